import { createContext, use, useEffect, useEffectEvent, useMemo } from 'react'

/** The second key of a sequence must follow within this time. */
const SEQUENCE_MS = 1_200

interface Shortcut {
  readonly keys: string
  run(): void
}

interface Keyboard {
  add(shortcut: Shortcut): () => void
}

const KeyboardContext = createContext<Keyboard | undefined>(undefined)

/** Hears keys for the whole page: single keys (`/`), sequences (`g m`) and `mod+k`; never while somebody types. */
export function KeyboardProvider({ children }: { children: React.ReactNode }) {
  const keyboard = useMemo(createKeyboard, [])
  useEffect(() => {
    document.addEventListener('keydown', keyboard.handle)
    return () => document.removeEventListener('keydown', keyboard.handle)
  }, [keyboard])
  return <KeyboardContext value={keyboard}>{children}</KeyboardContext>
}

/** Runs when the keys are pressed, as long as the component is there; the last one that asked wins. */
export function useShortcut(keys: string, run: () => void): void {
  const keyboard = use(KeyboardContext)
  const onKeys = useEffectEvent(run)
  useEffect(() => keyboard?.add({ keys, run: () => onKeys() }), [keyboard, keys])
}

function createKeyboard() {
  const shortcuts: Shortcut[] = []
  let first: { readonly key: string; readonly at: number } | undefined
  const find = (keys: string) => shortcuts.findLast((shortcut) => shortcut.keys === keys)
  return {
    add(shortcut: Shortcut) {
      shortcuts.push(shortcut)
      return () => {
        const at = shortcuts.indexOf(shortcut)
        if (at >= 0) shortcuts.splice(at, 1)
      }
    },
    handle(event: KeyboardEvent) {
      if (event.defaultPrevented || event.isComposing) return
      const modified = event.ctrlKey || event.metaKey
      if (event.altKey || (isTyping(event.target) && !modified)) return
      const key = modified ? `mod+${event.key.toLowerCase()}` : event.key
      const sequence =
        first !== undefined && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${key}` : undefined
      const found = (sequence === undefined ? undefined : find(sequence)) ?? find(key)
      first = found === undefined ? { key, at: event.timeStamp } : undefined
      if (found === undefined) return
      event.preventDefault()
      found.run()
    },
  }
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.closest('dialog') !== null) return true
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}
