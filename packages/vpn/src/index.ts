/** Which peer gets this packet, and through which tunnel: the table, sessions, streams and address leases of a node. */
export type {
  ByteStream,
  ByteStreams,
  PeerPath,
  VpnChannel,
  VpnChannels,
  VpnLedger,
  VpnNetwork,
} from './ports.ts'
export { type TransferComponents, transferLeadership } from './legacy/leadership-transfer.ts'
export { deriveIpv6Range } from './addresses/derive-ipv6.ts'
export { createVpn } from './create-vpn.ts'
export type { VpnErrorCode } from './errors.ts'
export type { PacketMatch, PacketRule, PacketRules, Refusal } from '@mesh/engine'
export {
  type AcceptedRoute,
  type AddedGuest,
  type ExitFault,
  type GuestRequest,
  type GuestStatus,
  type GuestStore,
  type HostNetwork,
  type HostRoute,
  IGNORED_REASONS,
  type IpFamily,
  type LeaseStore,
  type IgnoredReason,
  type LeaseInit,
  type MachineDescription,
  type StaticPeer,
  type Vpn,
  type VpnExitStatus,
  type VpnComponents,
  type VpnEvent,
  type VpnHost,
  type VpnInit,
  type VpnPeerStatus,
  type VpnProbe,
  type VpnProblem,
  type VpnState,
  type VpnStatus,
  type TunnelKind,
} from './vpn.ts'
export type { CountedRefusal, RulesStatus } from './rules/rules-status.ts'
