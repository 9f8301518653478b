/**
 * Packets between the kernel and peers: a TUN interface and WireGuard sessions, native, without policy.
 *
 * @example
 * ```ts
 * import { randomBytes } from 'node:crypto'
 * import { engineSupport, openEngine } from '@mesh/engine'
 *
 * const support = engineSupport()
 * if (!support.supported) console.log(support.message, support.hint)
 * else {
 *   const engine = openEngine({
 *     name: 'mesh0', addresses: [], mtu: 1280, privateKey: randomBytes(32), onEvent: (event) => console.log(event),
 *   })
 *   engine.close()
 * }
 * ```
 */
export {
  type Datagram,
  type ProbePair,
  type Engine,
  type EngineComponents,
  type EngineEvent,
  type EngineInit,
  type EngineInterface,
  openEngine,
  type Restored,
} from './engine.ts'
export type { EngineErrorCode } from './errors.ts'
export { framesOf } from './frames.ts'
export {
  type KernelEngineComponents,
  type KernelEngineInit,
  type LocalFilter,
  openKernelEngine,
} from './kernel-engine.ts'
export { MAX_BATCH_BYTES, MAX_OUTBOUND_BYTES } from './limits.ts'
export { allowFragments, capSegments, markSocket, trimMemory } from './process-calls.ts'
export type { UdpInit } from './native-init.ts'
export type { PacketMatch, PacketRule, PacketRules, Refusal } from './rules.ts'
export {
  DROP_REASONS,
  type DropReason,
  type EngineCounters,
  type EngineStats,
  type GuestCounters,
} from './stats.ts'
export { type EngineSupport, type EngineSupportInit, engineSupport, kernelSupport } from './support.ts'
export {
  type Endpoint,
  endpointText,
  type EngineGuest,
  type EnginePeer,
  type EngineTable,
  type Tunnel,
  type TunnelPath,
} from './table.ts'
