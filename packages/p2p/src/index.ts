/**
 * A member of a mesh network: the interface of a running node. These are types alone; `@mesh/p2p/node` starts
 * a node on a machine, `@mesh/p2p/testing` in memory.
 *
 * @example
 * ```ts
 * import type { P2pNode } from '@mesh/p2p'
 *
 * export function describe(node: P2pNode): string {
 *   return `${node.self} knows ${node.peers().length} peers`
 * }
 * ```
 */
export type { P2pErrorCode, RefusalCode } from './p2p-error.ts'
export type {
  Admission,
  PairRules,
  Bandwidth,
  BandwidthStats,
  ByteStream,
  ByteStreams,
  Channel,
  ChannelOptions,
  Channels,
  GossipTopic,
  P2pEvent,
  P2pNode,
  PeerStatus,
  PublicMessage,
  PublicTopic,
  TopicMessage,
} from './p2p-node.ts'
export type { PathReport, ToldPath } from './path-reports/path-report.ts'
