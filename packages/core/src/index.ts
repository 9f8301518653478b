/**
 * The words that every part of mesh uses. Browser-safe, no IO.
 *
 * @example
 * ```ts
 * import { parsePeerId, shortPeerId } from '@mesh/core'
 * const id = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
 * console.log(shortPeerId(id))
 * ```
 */
export { addressGroup, isLoopback } from './address-group.ts'
export { copyOf, isSmallPart } from './array-views.ts'
export { BoundedMap } from './bounded-map.ts'
export { BoundedRing } from './bounded-ring.ts'
export { BUCKETS, positionId } from './buckets.ts'
export { parseProviderKey, type ProviderKey, providerKey, providerPrefix } from './provider-key.ts'
export { type Clock, delay, systemClock } from './clock.ts'
export {
  afterTurns,
  createDeadline,
  type Deadline,
  type DeadlineInit,
  untilAborted,
  withDeadline,
} from './deadline.ts'
export { parseDuration, tryParseDuration } from './duration.ts'
export { type AddressListener, type EachAddressInit, listenAtEachAddress } from './each-address.ts'
export { parseExactJson, stringifyExactJson } from './exact-json.ts'
export { fnv1a32 } from './fnv1a.ts'
export { Heap } from './heap.ts'
export { heartbeatValue, parseHeartbeat } from './heartbeat.ts'
export { KeyedCounts } from './keyed-counts.ts'
export {
  type AddressInRange,
  type Cidr,
  cidrContains,
  formatAddressInRange,
  type IpAddress,
  parseCidr,
  parseIp,
  tryParseAddressInRange,
  tryParseIp,
} from './ip.ts'
export { type LogFields, type Logger, silentLogger } from './logger.ts'
export { createMemo, type Memo } from './memo.ts'
export { errorsOf, type Issue, MeshError, type MeshErrorInit } from './mesh-error.ts'
export { findNearest } from './nearest.ts'
export { isNodeName } from './node-name.ts'
export {
  type PeerId,
  parsePeerId,
  peerIdFromPublicKey,
  publicKeyOf,
  shortPeerId,
  tryParsePeerId,
} from './peer-id.ts'
export { printable, printableName } from './printable.ts'
export { type Random, systemRandom } from './random.ts'
export {
  type DnsRecord,
  dnsRecord,
  type MachineRecord,
  machineRecord,
  type RecordReader,
  type ServiceRecord,
  serviceRecord,
  type UserRecord,
  userRecord,
} from './records.ts'
export { toError } from './to-error.ts'
