/** The feed of what happened lately, in the terms of people: built from events, newest first, bounded. */
import { BUCKETS } from '@mesh/core'
import type { ApiEvent, EventData } from '@mesh/api-contract'

export type FeedEntry = { readonly id: string /** Unix ms. */; readonly at: number } & (
  | {
      readonly kind: 'changed'
      readonly owner: string
      readonly bucket: string
      /** One of the keys. */
      readonly key: string
      /** How many keys of the bucket changed in the same block by the same owner. */
      readonly count: number
      readonly deleted: boolean
      readonly block: number
    }
  | { readonly kind: 'rejected'; readonly rejection: EventData<'ledger.rejected'> }
  | { readonly kind: 'conflict'; readonly conflict: EventData<'ledger.conflict'> }
  | { readonly kind: 'connected'; readonly peer: string; readonly path: 'direct' | 'relayed' }
  | { readonly kind: 'disconnected'; readonly peer: string }
  | { readonly kind: 'stranger'; readonly peer: string | null; readonly code: string }
  | { readonly kind: 'machine'; readonly peer: string; readonly hostname: string; readonly online: boolean }
)

export const MAX_FEED_ENTRIES = 300
/** Announcements that repeat themselves tell people nothing. */
const QUIET_BUCKETS: ReadonlySet<string> = new Set([BUCKETS.healthcheck])

/** When an event happened that the node told of afterwards, Unix ms; undefined for what happens now. */
export function pastTime({ data }: ApiEvent): number | undefined {
  const at = 'At' in data && data.At !== undefined ? Date.parse(data.At) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

/** The entries that one event adds, newest first; often one, sometimes none. */
export function feedEntriesOf(event: ApiEvent, at: number): readonly FeedEntry[] {
  const { id } = event
  switch (event.type) {
    case 'ledger.changed':
      return changesOf(event.id, event.data, at)
    case 'ledger.rejected':
      return [{ id, at, kind: 'rejected', rejection: event.data }]
    case 'ledger.conflict':
      return [{ id, at, kind: 'conflict', conflict: event.data }]
    case 'peer.connected':
      return [{ id, at, kind: 'connected', peer: event.data.PeerID, path: event.data.Path }]
    case 'peer.disconnected':
      return [{ id, at, kind: 'disconnected', peer: event.data.PeerID }]
    case 'peer.refused':
      return [{ id, at, kind: 'stranger', peer: event.data.PeerID, code: event.data.Code }]
    case 'machine.online':
    case 'machine.offline': {
      const { PeerID: peer, Hostname: hostname } = event.data
      return [{ id, at, kind: 'machine', peer, hostname, online: event.type === 'machine.online' }]
    }
    case 'machine.path':
    case 'service.changed':
    case 'connection.changed':
    case 'file.changed':
    case 'access.changed':
    case 'rules.refused':
    case 'block.committed':
    case 'gap':
      return []
  }
}

/** Changes of one block by one owner in one bucket are one entry. */
function changesOf(id: string, { Block, Changes }: EventData<'ledger.changed'>, at: number): FeedEntry[] {
  const told = Changes.filter(({ Bucket }) => !QUIET_BUCKETS.has(Bucket))
  const groups = Map.groupBy(told, ({ Owner, Bucket, Deleted }) => JSON.stringify([Owner, Bucket, Deleted]))
  return [...groups].flatMap(([name, [first, ...rest]]) => {
    if (first === undefined) return []
    const { Owner: owner, Bucket: bucket, Key: key, Deleted: deleted } = first
    const count = rest.length + 1
    return [{ id: `${id} ${name}`, at, kind: 'changed', owner, bucket, key, count, deleted, block: Block }]
  })
}
