import { useMemo, useSyncExternalStore } from 'react'
import { theme } from './theme.ts'

const DARK = '(prefers-color-scheme: dark)'

/** Colours of tokens.css by name (`alive`), as they are in the theme now, for what no style sheet reaches: canvases. */
export function useTokenColours<Name extends string>(names: readonly Name[]): Readonly<Record<Name, string>> {
  const chosen = theme.use()
  const isSystemDark = useSyncExternalStore(subscribe, () => query()?.matches ?? false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours change with theme and system
  return useMemo(() => readColours(names), [names, chosen, isSystemDark])
}

/** A token is a text with both themes in it; only a property that takes a colour has the one in use. */
function readColours<Name extends string>(names: readonly Name[]): Readonly<Record<Name, string>> {
  const probe = document.documentElement.appendChild(document.createElement('span'))
  const style = getComputedStyle(probe)
  const colours = names.map((name) => {
    probe.style.color = `var(--${name})`
    return [name, style.color] as const
  })
  probe.remove()
  return Object.fromEntries(colours) as Record<Name, string>
}

function subscribe(listener: () => void): () => void {
  query()?.addEventListener('change', listener)
  return () => query()?.removeEventListener('change', listener)
}

/** Undefined where there is no layout, as in jsdom. */
function query(): MediaQueryList | undefined {
  return typeof window.matchMedia === 'function' ? window.matchMedia(DARK) : undefined
}
