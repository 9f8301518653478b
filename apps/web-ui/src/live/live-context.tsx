import { createContext, use, useSyncExternalStore } from 'react'
import type { FeedEntry } from './feed.ts'
import type { LinkStatus, Live } from './live.ts'

const LiveContext = createContext<Live | undefined>(undefined)

export const LiveProvider = LiveContext

/** Is the page told what happens, and if not, since when? */
export function useLinkStatus(): LinkStatus {
  const live = useLive()
  return useSyncExternalStore(live.subscribe, live.status)
}

/** Gives what happened lately, newest first. */
export function useFeed(): readonly FeedEntry[] {
  const live = useLive()
  return useSyncExternalStore(live.subscribe, live.feed)
}

/** The block in which a key changed last, where the page heard of it. */
export function useBlockOf(bucket: string, key: string): number | undefined {
  const changed = useFeed().find(
    (entry) => entry.kind === 'changed' && entry.bucket === bucket && entry.key === key,
  )
  return changed?.kind === 'changed' ? changed.block : undefined
}

export function useLive(): Live {
  const live = use(LiveContext)
  if (live === undefined) throw new Error('outside of LiveProvider')
  return live
}
