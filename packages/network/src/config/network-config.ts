/** A network's configuration: the secrets and settings that its members share (docs/WIRE.md 1). */
import type { PeerId } from '@mesh/core'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { frameTexts } from './frame-texts.ts'

/** How one rotating secret is made: HMAC of the time window's number, cut to `length` characters. */
export interface OtpConfig {
  readonly key: string
  /** Seconds that one window lasts, 1 to 2^63-1: a `bigint`, so that a token is written as it was read. */
  readonly intervalS: bigint
  /** Characters kept, 1 to 44. */
  readonly length: number
}

/** The secrets and settings that all members of a network share. */
export interface NetworkConfig {
  /** Rotating DHT rendezvous; undefined when the network has a static one, or none. */
  readonly dht: OtpConfig | undefined
  /** Seal key; its interval and length serve the gossip topic too. */
  readonly crypto: OtpConfig
  /** Secret that names the gossip topic. */
  readonly room: string
  /** Static DHT rendezvous, in use without `dht`; may be empty. */
  readonly rendezvous: string
  /** mDNS service name, a single label; may be empty. */
  readonly mdns: string
  /** Longest gossip message in bytes. */
  readonly maxMessageBytes: number
  /**
   * The public keys of the administrators, in the form of peer ids: only peers that one of them lets in may use the
   * network. Absent: anyone who has the token may. Legacy nodes do not read it.
   */
  readonly administrators?: readonly PeerId[]
}

/** Names the network without telling its secrets, for folders and logs: 20 hex digits. */
export function networkId(config: NetworkConfig): string {
  return bytesToHex(sha256(frameTexts(config.crypto.key, config.room))).slice(0, 20)
}
