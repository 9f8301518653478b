/** Which legacy members were heard lately: whoever sent a block of theirs and does not speak `REPLICATION_PROTOCOL`. */
import { BoundedMap, type Clock, type PeerId } from '@mesh/core'
import { LEGACY_MEMBER_MS, MAX_MEMBERS_REMEMBERED } from '../limits.ts'
import type { Members } from '../presence/members.ts'

export interface LegacyPresence {
  /** Notes that a block of legacy form came from this author. */
  heard(author: PeerId): void
  /** Was a legacy member heard within ten minutes? */
  isAbout(): boolean
  /** The legacy members that were heard within ten minutes. */
  members(): readonly PeerId[]
}

export function createLegacyPresence({
  members,
  clock,
}: {
  readonly members: Pick<Members, 'ours'>
  readonly clock: Clock
}): LegacyPresence {
  const heardAt = new BoundedMap<PeerId, number>(MAX_MEMBERS_REMEMBERED)
  const isRecent = (atMs: number) => atMs + LEGACY_MEMBER_MS > clock.monotonic()
  return {
    heard(author) {
      if (members.ours().includes(author)) heardAt.delete(author)
      else heardAt.set(author, clock.monotonic())
    },
    isAbout: () => [...heardAt.values()].some(isRecent),
    members: () => [...heardAt].filter(([, atMs]) => isRecent(atMs)).map(([author]) => author),
  }
}
