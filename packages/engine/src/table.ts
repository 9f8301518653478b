/** What the engine is told: which addresses each peer owns, and by which way packets reach it. */
import type { Cidr, PeerId } from '@mesh/core'
import { engineError } from './errors.ts'
import { KEY_BYTES, MAX_MTU, MIN_MTU } from './limits.ts'
import type { NativeTable } from './native.ts'

const NATIVE_WAYS = { unknown: 0, stream: 1, plain: 2 } as const

/** The whole; swapped in at once, never changed. */
export interface EngineTable {
  /** What this node receives for: its own addresses (`/32`, `/128`) and the networks it routes for others. */
  readonly local: readonly Cidr[]
  readonly peers: readonly EnginePeer[]
}

export interface EnginePeer {
  readonly peer: PeerId
  /** Its addresses and networks. The longest match owns an address; no range twice in a table. */
  readonly allowed: readonly Cidr[]
  /** The longest packet that its way carries, in bytes. */
  readonly mtu: number
  readonly way: Way
}

/**
 * `unknown`: packets wait (64 KiB, 90 seconds) and event `wanted` asks for a way; nothing is taken from the peer.
 * `stream`: sealed, in batches that the application carries over a stream it has. `plain`: unsealed, one by one,
 * for members of older networks.
 */
export type Way =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'stream'; readonly publicKey: Uint8Array; readonly presharedKey: Uint8Array }
  | { readonly kind: 'plain' }

/** @throws MeshError `engine.bad_table` for a peer or range named twice, and keys or MTUs that cannot be */
export function checkTable({ peers }: EngineTable): void {
  const named = new Set<PeerId>()
  const owners = new Map<Cidr, PeerId>()
  for (const { peer, allowed, mtu, way } of peers) {
    if (named.has(peer)) throw engineError('engine.bad_table', `peer ${peer} twice in the table`)
    named.add(peer)
    if (!Number.isInteger(mtu) || mtu < MIN_MTU || mtu > MAX_MTU)
      throw engineError('engine.bad_table', `peer ${peer} with an MTU of ${mtu}`)
    if (way.kind === 'stream' && [way.publicKey, way.presharedKey].some((key) => key.length !== KEY_BYTES))
      throw engineError('engine.bad_table', `peer ${peer} with a key that has not ${KEY_BYTES} bytes`)
    for (const range of allowed) {
      const owner = owners.get(range)
      if (owner !== undefined) throw engineError('engine.bad_table', `${range} for both ${owner} and ${peer}`)
      owners.set(range, peer)
    }
  }
}

/** For the addon; `numberOf` gives each peer the number by which the addon knows it. */
export function encodeTable(table: EngineTable, numberOf: (peer: PeerId) => number): NativeTable {
  const sealed = table.peers.reduce((count, { way }) => count + (way.kind === 'stream' ? 1 : 0), 0)
  const peers = new Uint32Array(table.peers.length * 4)
  const keys = new Uint8Array(sealed * 2 * KEY_BYTES)
  let at = 0
  let key = 0
  const ranges: Cidr[] = []
  for (const { peer, allowed, mtu, way } of table.peers) {
    peers[at++] = numberOf(peer)
    peers[at++] = NATIVE_WAYS[way.kind]
    peers[at++] = mtu
    peers[at++] = allowed.length
    for (const range of allowed) ranges.push(range)
    if (way.kind !== 'stream') continue
    keys.set(way.publicKey, key)
    keys.set(way.presharedKey, key + KEY_BYTES)
    key += 2 * KEY_BYTES
  }
  return { peers, keys, ranges: ranges.join(' '), local: table.local.join(' ') }
}
