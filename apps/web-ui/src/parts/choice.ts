/** A choice that this browser keeps: how the page looks is no business of the node. */
import { useSyncExternalStore } from 'react'

interface ChoiceInit<Value extends string> {
  /** The name in the storage, and of the attribute on the document that style sheets look at. */
  readonly name: string
  readonly values: readonly Value[]
  /** The value that holds until somebody chooses; it leaves no trace on the document. */
  readonly usual: Value
}

export interface Choice<Value extends string> {
  readonly values: readonly Value[]
  use(): Value
  choose(value: Value): void
  /** Puts what was chosen on the document; called once before the first render. */
  apply(): void
}

export function createChoice<Value extends string>({
  name,
  values,
  usual,
}: ChoiceInit<Value>): Choice<Value> {
  const key = `mesh.${name}`
  const listeners = new Set<() => void>()
  /** Chosen since the page was loaded; it lasts that long where the storage is switched off. */
  let chosen: Value | undefined
  const read = () => chosen ?? values.find((value) => value === readStorage(key)) ?? usual
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const apply = () => {
    if (read() === usual) delete document.documentElement.dataset[name]
    else document.documentElement.dataset[name] = read()
  }
  return {
    values,
    apply,
    use: () => useSyncExternalStore(subscribe, read),
    choose(value) {
      chosen = value
      writeStorage(key, value === usual ? undefined : value)
      apply()
      for (const listener of listeners) listener()
    },
  }
}

function readStorage(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function writeStorage(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    // storage is switched off
  }
}
