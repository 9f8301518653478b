/**
 * The table that the engine is told: which addresses each peer owns, and through which tunnel packets reach
 * it.
 */
import type { Cidr, IpAddress, PeerId } from '@mesh/core'
import { engineError } from './errors.ts'
import { KEY_BYTES, MAX_MTU, MIN_MTU } from './limits.ts'
import type { NativeTable } from './native.ts'
import { checkRules, encodeRules, type PacketRules } from './rules.ts'

const STREAM = { kind: 'stream' } as const
/** The addon's word for a path to wherever a guest was heard. */
const HEARD = 3
const NATIVE_TUNNELS = { none: 0, wireguard: 1, legacy: 2 } as const

/** The whole table: swapped in at once, and never changed afterwards. */
export interface EngineTable {
  /**
   * The networks that this node receives for: its own addresses (`/32`, `/128`) and the networks it routes
   * for others.
   */
  readonly local: readonly Cidr[]
  readonly peers: readonly EnginePeer[]
  /** Stock WireGuard devices, which speak with this node alone. */
  readonly guests?: readonly EngineGuest[]
  /**
   * The rules by which flows may begin; undefined: all may. The same object as in the table before is not compiled
   * again. Flows are followed without rules too, so that the first rules end what they do not allow and nothing else.
   */
  readonly rules?: PacketRules | undefined
}

/**
 * A guest is reached over UDP, where its last authentic datagram came from. The engine passes packets on between it and
 * all peers and guests of the table.
 */
export interface EngineGuest {
  /** Its public key for X25519, base64, by which it is named. */
  readonly key: string
  readonly presharedKey: Uint8Array
  readonly allowed: readonly Cidr[]
  readonly mtu: number
}

export interface EnginePeer {
  readonly peer: PeerId
  /** Its addresses and networks. The longest match owns an address; no range twice in a table. */
  readonly allowed: readonly Cidr[]
  /** The longest packet that goes through its tunnel, in bytes. */
  readonly mtu: number
  readonly tunnel: Tunnel
}

/** An address and a port of UDP. */
export interface Endpoint {
  readonly address: IpAddress
  readonly port: number
}

/**
 * The carrier of a WireGuard tunnel's datagrams. `stream`: the application does, in batches (`take`,
 * `inject`). `udp`: the engine's socket sends them to the endpoint; with `alsoStream` they go both ways, and the one
 * that comes second is dropped there. Packets longer than the path's `mtu`, in bytes, go by the stream all the same.
 * `socket` names a further socket by its port (`Engine.openSocket`); without it they leave by the engine's own. Whatever
 * the path, the peer's datagrams are taken from both, and from all sockets.
 */
export type TunnelPath =
  | { readonly kind: 'stream' }
  | {
      readonly kind: 'udp'
      readonly endpoint: Endpoint
      readonly alsoStream: boolean
      readonly mtu: number
      /** The port of a further socket; undefined: the engine's own. */
      readonly socket?: number | undefined
    }

/**
 * How packets reach a peer. `none`: they wait (64 KiB, 90 seconds), event `pathNeeded` asks for a tunnel, and nothing
 * is taken from the peer. `wireguard`: they are sealed, and go by the path. `legacy`: they go unsealed and one by one,
 * as legacy members expect it.
 */
export type Tunnel =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'wireguard'
      /** The public key for X25519, 32 bytes. */
      readonly publicKey: Uint8Array
      /** The secret that both ends have besides, 32 bytes. */
      readonly presharedKey: Uint8Array
      readonly path: TunnelPath
    }
  | { readonly kind: 'legacy' }

/** @throws MeshError `engine.bad_table` for a peer or range named twice, and keys, MTUs or rules that cannot be */
export function checkTable({ peers, guests = [], rules }: EngineTable): void {
  if (rules !== undefined) checkRules(rules)
  const named = new Set<PeerId>()
  const owners = new Map<Cidr, PeerId>()
  for (const { peer, allowed, mtu, tunnel } of peers) {
    if (named.has(peer)) throw engineError('engine.bad_table', `peer ${peer} twice in the table`)
    named.add(peer)
    if (!Number.isInteger(mtu) || mtu < MIN_MTU || mtu > MAX_MTU)
      throw engineError('engine.bad_table', `peer ${peer} with an MTU of ${mtu}`)
    if (
      tunnel.kind === 'wireguard' &&
      [tunnel.publicKey, tunnel.presharedKey].some((key) => key.length !== KEY_BYTES)
    )
      throw engineError('engine.bad_table', `peer ${peer} with a key that has not ${KEY_BYTES} bytes`)
    for (const range of allowed) {
      const owner = owners.get(range)
      if (owner !== undefined) throw engineError('engine.bad_table', `${range} for both ${owner} and ${peer}`)
      owners.set(range, peer)
    }
  }
  for (const { key, presharedKey } of guests) {
    if ([publicKeyOf(key), presharedKey].some(({ length }) => length !== KEY_BYTES))
      throw engineError('engine.bad_table', `a guest with a key that has not ${KEY_BYTES} bytes`)
  }
}

function publicKeyOf(key: string): Uint8Array {
  return Buffer.from(key, 'base64')
}

/** Who is in a table: a peer, or a guest by its key. */
export type TableOwner =
  | { readonly peer: PeerId; readonly guest?: undefined }
  | { readonly peer?: undefined; readonly guest: string }

/**
 * Builds the table for the addon.
 *
 * @param numberOf gives the number by which it knows a peer, or the key of a guest
 * @param before the rules of the table before: if they are the same they are left out
 */
export function encodeTable(
  table: EngineTable,
  numberOf: (name: string) => number,
  before?: PacketRules,
): NativeTable {
  const { guests = [] } = table
  const peers: number[] = []
  const keys: Uint8Array[] = []
  const ranges: Cidr[] = []
  const endpoints: string[] = []
  for (const { peer, allowed, mtu, tunnel } of table.peers) {
    const path = tunnel.kind === 'wireguard' ? tunnel.path : STREAM
    const over =
      path.kind === 'stream'
        ? [0, mtu, 0]
        : [path.alsoStream ? 2 : 1, Math.min(mtu, path.mtu), path.socket ?? 0]
    peers.push(numberOf(peer), NATIVE_TUNNELS[tunnel.kind], mtu, allowed.length, ...over)
    if (path.kind === 'udp') endpoints.push(endpointText(path.endpoint))
    for (const range of allowed) ranges.push(range)
    if (tunnel.kind === 'wireguard') keys.push(tunnel.publicKey, tunnel.presharedKey)
  }
  for (const { key, presharedKey, allowed, mtu } of guests) {
    peers.push(numberOf(key), NATIVE_TUNNELS.wireguard, mtu, allowed.length, HEARD, mtu, 0)
    ranges.push(...allowed)
    keys.push(publicKeyOf(key), presharedKey)
  }
  return {
    peers: Uint32Array.from(peers),
    keys: Buffer.concat(keys),
    ranges: ranges.join(' '),
    endpoints: endpoints.join(' '),
    local: table.local.join(' '),
    ...(table.rules !== before && { rules: encodeRules(table.rules) }),
  }
}

/** Writes an endpoint as people do: `192.0.2.1:51820`, `[2001:db8::1]:51820`. */
export function endpointText({ address, port }: Endpoint): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
