import { MeshError, type MeshErrorInit, type PeerId } from '@mesh/core'
import type { TunnelErrorCode } from './streams/tunnel-error.ts'

/** Codes of the `MeshError`s that this package throws. The engine's (`engine.*`) pass through as they are. */
export type VpnErrorCode =
  /** Another member has the address. */
  | 'vpn.address_taken'
  /** A network of this machine has the address, or overlaps with the VPN's range. */
  | 'vpn.address_in_use'
  /** An address that no node can have: a network's or broadcast address, multicast, loopback. */
  | 'vpn.bad_address'
  /** No address of the range is left to lease. */
  | 'vpn.range_full'
  | 'vpn.bad_mtu'
  /** A fixed address is IPv6, which the interface cannot have. */
  | 'vpn.no_ipv6'
  /** More addresses, static peers or routes than the VPN takes. */
  | 'vpn.too_many'
  /** The peer has no machine in this VPN. */
  | 'vpn.unknown_peer'
  | 'vpn.not_running'
  /** The file that keeps the guests is no such file. */
  | 'vpn.bad_guest_file'
  /** The name of a guest is no DNS label. */
  | 'vpn.bad_guest_name'
  | 'vpn.guest_exists'
  | 'vpn.unknown_guest'
  | 'vpn.too_many_guests'
  /** No IPv4 address is left for a guest. */
  | 'vpn.no_guest_address'
  /** Guests could not be written down, so that a restart would cut them off. */
  | 'vpn.guest_not_kept'
  /** The kernel's WireGuard carries for members alone. */
  | 'vpn.guests_need_engine'
  /** The kernel's WireGuard carries, and has no filter for rules. */
  | 'vpn.rules_need_engine'
  /** Guests come over UDP alone, and this node has no socket. */
  | 'vpn.no_udp'
  /** It is not known where a guest finds this node. */
  | 'vpn.no_endpoint'
  /** A guest was to send all to this node, which has no exit and is none. */
  | 'vpn.no_exit'
  | TunnelErrorCode

export function vpnError(
  code: VpnErrorCode,
  message: string,
  init: MeshErrorInit = {},
): MeshError<VpnErrorCode> {
  return new MeshError(code, message, init)
}

export function unknownPeer(peer: PeerId): MeshError<VpnErrorCode> {
  return vpnError('vpn.unknown_peer', `${peer} has no machine in this VPN`, {
    hint: 'The bucket `machines` of the ledger lists them.',
  })
}
