import { MeshError, type MeshErrorInit } from '@mesh/core'
import type { TunnelErrorCode } from './tunnels/errors.ts'

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
  /** More addresses, static peers or routes than the VPN takes. */
  | 'vpn.too_many'
  /** The peer has no machine in this VPN. */
  | 'vpn.unknown_peer'
  | 'vpn.not_running'
  | TunnelErrorCode

export function vpnError(
  code: VpnErrorCode,
  message: string,
  init: MeshErrorInit = {},
): MeshError<VpnErrorCode> {
  return new MeshError(code, message, init)
}
