/**
 * What makes a mesh network, and what a member of it can do: tokens and configurations, and the interface of a
 * running node. Browser-safe; `@mesh/p2p/node` starts one on a machine, `@mesh/p2p/testing` in memory.
 *
 * @example
 * ```ts
 * import { systemRandom } from '@mesh/core'
 * import { encodeToken, generateNetworkConfig, networkId, parseToken } from '@mesh/p2p'
 *
 * const token = encodeToken(generateNetworkConfig({ intervalS: 360 }, systemRandom))
 * console.log(networkId(parseToken(token)))
 * ```
 */
export {
  encodeToken,
  formatNetworkConfig,
  generateNetworkConfig,
  type NetworkConfig,
  networkId,
  type OtpConfig,
  parseNetworkConfig,
  parseToken,
} from './network-config.ts'
export type { P2pErrorCode, RefusalCode } from './p2p-error.ts'
export type {
  Bandwidth,
  BandwidthStats,
  ByteStream,
  ByteStreams,
  Channel,
  ChannelOptions,
  Channels,
  P2pEvent,
  P2pNode,
  PeerStatus,
  Room,
  RoomMessage,
} from './p2p-node.ts'
