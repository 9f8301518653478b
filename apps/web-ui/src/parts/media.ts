import { useSyncExternalStore } from 'react'

/** Must equal the width in the style sheets at which the rail gives way to the bar below. */
const NARROW = '(max-width: 760px)'

/** True on a phone's width, where rows have two lines and panels are pages. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => query()?.matches ?? false)
}

function subscribe(listener: () => void): () => void {
  const media = query()
  media?.addEventListener('change', listener)
  return () => media?.removeEventListener('change', listener)
}

/** Undefined where there is no layout, as in jsdom. */
function query(): MediaQueryList | undefined {
  return typeof window.matchMedia === 'function' ? window.matchMedia(NARROW) : undefined
}
