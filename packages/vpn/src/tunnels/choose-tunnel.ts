/**
 * Chooses the tunnel of a peer from what is known. Pure.
 *
 * A peer whose key this node holds becomes `legacy` only by its own word. On an authenticated connection it must speak
 * `/edgevpn/0.1` and not `/mesh/vpn/1`, while no control channel stands. Then a legacy node replaced ours under the same
 * identity.
 */
import type { Tunnel, TunnelPath } from '@mesh/engine'
import { LEGACY_MTU } from '../legacy/limits.ts'
import type { UdpPath } from '../paths/path-state.ts'
import type { PeerKey } from './key-registry.ts'

export interface ChosenTunnel {
  readonly tunnel: Tunnel
  /** The longest packet that goes through it, in bytes. */
  readonly mtu: number
}

interface PeerKnowledge {
  /** The key that the peer proved. */
  readonly key: PeerKey | undefined
  /** The proven way over UDP; undefined: there is none. */
  readonly path?: UdpPath | undefined
  /** A control channel with the peer stands. */
  readonly hasChannel: boolean
  /** True when it speaks `/mesh/vpn/1`; undefined when it is not connected, or has not said yet. */
  readonly speaksVpn: boolean | undefined
  /** True when this node and the peer both speak `/edgevpn/0.1`. */
  readonly speaksLegacy: boolean
}

/** @param mtu the interface's, in bytes */
export function noTunnel(mtu: number): ChosenTunnel {
  return { tunnel: { kind: 'none' }, mtu }
}

/** The same object as `before` when nothing changes. */
export function chooseTunnel(before: ChosenTunnel, known: PeerKnowledge, mtu: number): ChosenTunnel {
  const { key, hasChannel, speaksVpn, speaksLegacy } = known
  const { kind } = before.tunnel
  const isLegacy = speaksVpn === false && speaksLegacy
  if (key !== undefined && (hasChannel || !isLegacy))
    return wireguardTunnel(before, { key, path: known.path }, mtu)
  if (isLegacy) {
    return kind === 'legacy' ? before : { tunnel: { kind: 'legacy' }, mtu: Math.min(mtu, LEGACY_MTU) }
  }
  // it was updated: nothing goes to it unsealed any more
  return speaksVpn === true && kind !== 'none' ? noTunnel(mtu) : before
}

function wireguardTunnel(
  before: ChosenTunnel,
  { key, path }: { readonly key: PeerKey; readonly path: UdpPath | undefined },
  own: number,
): ChosenTunnel {
  const { publicKey, presharedKey } = key
  const { tunnel } = before
  const mtu = Math.min(own, key.mtu)
  if (
    tunnel.kind === 'wireguard' &&
    tunnel.publicKey === publicKey &&
    before.mtu === mtu &&
    isSamePath(tunnel.path, path)
  ) {
    return before
  }
  const way: TunnelPath = path === undefined ? { kind: 'stream' } : { kind: 'udp', ...path }
  return { tunnel: { kind: 'wireguard', publicKey, presharedKey, path: way }, mtu }
}

function isSamePath(one: TunnelPath, other: UdpPath | undefined): boolean {
  if (one.kind === 'stream' || other === undefined) return one.kind === 'stream' && other === undefined
  const isSameWay = one.endpoint === other.endpoint && one.socket === other.socket
  return isSameWay && one.alsoStream === other.alsoStream && one.mtu === other.mtu
}
