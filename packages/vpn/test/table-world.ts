/** A ledger's snapshot written by hand: entries that no ledger would take are among them. */
import { createHash } from 'node:crypto'
import { type PeerId, peerIdFromPublicKey } from '@mesh/core'
import {
  createLedger,
  createSigner,
  type Entry,
  heartbeatValue,
  type KeyedEntry,
  type Snapshot,
} from '@mesh/ledger'

export interface World {
  /** Unix ms of the first heartbeats. */
  readonly start: number
  /** @param afterMs from `start`, whole seconds */
  beat(peer: PeerId, afterMs: number): World
  machine(key: string, peer: PeerId, hostname?: string): World
  route(key: string, peer: PeerId, metric?: number): World
  entry(bucket: string, key: string, owner: PeerId, value: string): World
  snapshot(): Snapshot
}

/** The same name gives the same peer. */
export function peerNamed(name: string): PeerId {
  return peerIdFromPublicKey(createHash('sha256').update(name).digest())
}

export function createWorld(): World {
  const start = Date.UTC(2026, 0, 1)
  // it stores whatever it judges wrong, so that the table is the one to refuse
  const ledger = createLedger(
    { mode: 'observe' },
    {
      signer: createSigner(new Uint8Array(32).fill(1)),
      verify: () => true,
      clock: { now: () => start, after: () => () => {} },
    },
  )
  const added: KeyedEntry[] = []
  let version = 0n
  const add = (bucket: string, key: string, owner: PeerId, value: string) => {
    const entry: Entry = {
      value,
      owner,
      version: ++version,
      updatedAt: start / 1000,
      deleted: false,
      sig: new Uint8Array(64),
    }
    added.push({ bucket, key, entry })
    return world
  }
  const world: World = {
    start,
    beat: (peer, afterMs) => add('healthcheck', peer, peer, heartbeatValue(start + afterMs)),
    machine: (key, peer, hostname = '') =>
      add('machines', key, peer, JSON.stringify({ PeerID: peer, Hostname: hostname })),
    route: (key, peer, metric) => add('routes', key, peer, JSON.stringify({ PeerID: peer, Metric: metric })),
    entry: add,
    snapshot() {
      ledger.merge(added.splice(0), undefined)
      return ledger.snapshot()
    },
  }
  return world
}
