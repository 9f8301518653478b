import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const STORAGE_KEY = 'mesh.theme'
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }

const listeners = new Set<() => void>()

/** The chosen theme, and the step to the next one: system, light, dark. */
export function useTheme(): readonly [theme: Theme, next: () => void] {
  const theme = useSyncExternalStore(subscribe, readTheme)
  return [theme, () => chooseTheme(NEXT[theme])]
}

/** Puts the chosen theme on the page; called once before the first render. */
export function applyTheme(): void {
  const theme = readTheme()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function chooseTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(STORAGE_KEY)
    else localStorage.setItem(STORAGE_KEY, theme)
  } catch {
    // Storage is switched off: the choice lasts as long as the page, on the element itself.
  }
  chosen = theme
  applyTheme()
  for (const listener of listeners) listener()
}

/** The theme that was chosen since the page was loaded. */
let chosen: Theme | undefined

function readTheme(): Theme {
  if (chosen !== undefined) return chosen
  try {
    const kept = localStorage.getItem(STORAGE_KEY)
    return kept === 'light' || kept === 'dark' ? kept : 'system'
  } catch {
    return 'system'
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
