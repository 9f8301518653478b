/** Which peer gets this packet, and by which way: the table, sessions, streams and address leases of a node. */
export type {
  ByteStream,
  ByteStreams,
  PeerPath,
  VpnChannel,
  VpnChannels,
  VpnLedger,
  VpnNetwork,
} from './ports.ts'
export { type YieldComponents, yieldLeadership } from './addresses/yield-leadership.ts'
export { deriveIpv6Range } from './addresses/derive-ipv6.ts'
export { createVpn } from './create-vpn.ts'
export type { VpnErrorCode } from './errors.ts'
export {
  type AcceptedRoute,
  type HostNetwork,
  IGNORED_REASONS,
  type IgnoredReason,
  type LeaseInit,
  type MachineDescription,
  type StaticPeer,
  type Vpn,
  type VpnComponents,
  type VpnEvent,
  type VpnHost,
  type VpnInit,
  type VpnPeerStatus,
  type VpnProbe,
  type VpnProblem,
  type VpnState,
  type VpnStatus,
  type VpnWay,
} from './vpn.ts'
