/** A ledger's snapshot written by hand: entries that no ledger would take are among them. */
import { createHash } from 'node:crypto'
import { BUCKETS, heartbeatValue, parseHeartbeat, type PeerId, peerIdFromPublicKey } from '@mesh/core'
import type { Entry, KeyedEntry } from '@mesh/ledger'
import type { TableSnapshot } from '../src/table/table-input.ts'

export interface World {
  /** Unix ms of the first heartbeats. */
  readonly start: number
  /** @param afterMs from `start`, whole seconds */
  beat(peer: PeerId, afterMs: number): World
  machine(key: string, peer: PeerId, hostname?: string): World
  route(key: string, peer: PeerId, metric?: number): World
  /** Replaces what the key had. */
  entry(bucket: string, key: string, owner: PeerId, value: string): World
  /** Of now; later entries are not in it. */
  snapshot(): TableSnapshot
}

export const LIVENESS_MS = 480_000

/** The same name gives the same peer. */
export function peerNamed(name: string): PeerId {
  return peerIdFromPublicKey(createHash('sha256').update(name).digest())
}

export function createWorld(): World {
  const start = Date.UTC(2026, 0, 1)
  const buckets = new Map<string, Map<string, Entry>>()
  const add = (bucket: string, key: string, owner: PeerId, value: string) => {
    const entries = buckets.get(bucket) ?? new Map<string, Entry>()
    buckets.set(bucket, entries)
    entries.set(key, {
      value,
      owner,
      version: 1n,
      updatedAt: start / 1000,
      deleted: false,
      sig: new Uint8Array(64),
    })
    return world
  }
  const world: World = {
    start,
    beat: (peer, afterMs) => add(BUCKETS.healthcheck, peer, peer, heartbeatValue(start + afterMs)),
    machine: (key, peer, hostname = '') =>
      add('machines', key, peer, JSON.stringify({ PeerID: peer, Hostname: hostname })),
    route: (key, peer, metric) => add('routes', key, peer, JSON.stringify({ PeerID: peer, Metric: metric })),
    entry: add,
    snapshot: () => snapshotOf(new Map([...buckets].map(([name, entries]) => [name, new Map(entries)]))),
  }
  return world
}

function snapshotOf(buckets: ReadonlyMap<string, ReadonlyMap<string, Entry>>): TableSnapshot {
  const sorted = new Map<string, readonly KeyedEntry[]>()
  for (const [bucket, entries] of buckets) {
    const rows = [...entries].map(([key, entry]) => ({ bucket, key, entry }))
    sorted.set(
      bucket,
      rows.sort((one, other) => (one.key < other.key ? -1 : 1)),
    )
  }
  const getLive = (bucket: string, key: string) => buckets.get(bucket)?.get(key)
  return {
    getLive,
    entries: (bucket = '') => sorted.get(bucket) ?? [],
    isOwnerLive(owner, now) {
      const beat = parseHeartbeat(getLive(BUCKETS.healthcheck, owner)?.value ?? '')
      return beat !== undefined && beat + LIVENESS_MS > now
    },
  }
}
