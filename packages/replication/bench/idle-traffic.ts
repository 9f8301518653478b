/**
 * Models what an idle node sends: heartbeats over gossip, and the minute's comparison with one peer. It
 * counts what replication causes; what libp2p adds of its own (IHAVE, pings, discovery) is measured, not
 * modelled.
 */
import { BUCKETS, heartbeatValue } from '@mesh/core'
import { encodeBlock } from '@mesh/ledger'
import { gzipSync } from 'fflate'
import { DIGEST_CHECK_INTERVAL_MS, HEARTBEAT_INTERVAL_MS, SHORT_HASH_BYTES } from '../src/limits.ts'
import { encodeSyncMessage } from '../src/session/sync-message-codec.ts'

export interface IdleTrafficInit {
  readonly nodes: number
  readonly topology: 'full' | 'star'
  /** Peers that a node passes a message on to; gossipsub's D. Default 3. */
  readonly meshDegree?: number
  readonly heartbeatIntervalMs?: number
}

/** Bytes that one node sends in a minute, on average over the nodes. */
export interface IdleTraffic {
  /** Bytes per minute over the topic. */
  readonly gossip: number
  /** Bytes per minute of comparisons with single peers. */
  readonly sessions: number
  /** Bytes per minute in all. */
  readonly total: number
}

/** Signed pubsub message around the data: ids, sequence number, topic, signature, and the envelope's JSON. */
const PUBSUB_BYTES = 260
/** Nonce and tag, before the hexadecimal form doubles all. */
const SEAL_BYTES = 28
/** Multistream negotiation of a stream, and the muxer's and Noise's frames around its four or so messages. */
const STREAM_BYTES = 220

/** Does not depend on how many entries the ledgers hold: an idle node compares 40 bytes. */
export function estimateIdleTraffic(init: IdleTrafficInit): IdleTraffic {
  const { nodes, topology, meshDegree = 3, heartbeatIntervalMs = HEARTBEAT_INTERVAL_MS } = init
  if (nodes < 2) return { gossip: 0, sessions: 0, total: 0 }
  const messagesPerMinute = (nodes * 60_000) / heartbeatIntervalMs
  // In a star the hub sends one copy to each leaf and each leaf one to the hub; else each edge of the mesh carries
  // a message once or twice.
  const edges = (nodes * Math.min(meshDegree, nodes - 1)) / 2
  const copies = topology === 'star' ? nodes - 1 : Math.max(nodes - 1, 1.5 * edges)
  const gossip = (messagesPerMinute * copies * heartbeatMessageBytes()) / nodes
  const greeting = {
    size: 1e5,
    digest: new Uint8Array(SHORT_HASH_BYTES),
    heartbeats: new Uint8Array(SHORT_HASH_BYTES),
    nowMs: 2 ** 41,
  }
  const hello = encodeSyncMessage({
    hello: greeting,
    ranges: [],
    lists: [],
    wants: [],
    entries: [],
    refused: [],
    more: false,
  })
  // Each node opens one and answers one, on average.
  const sessions = ((60_000 / (0.875 * DIGEST_CHECK_INTERVAL_MS)) * 2 * (hello.length + STREAM_BYTES / 2)) | 0
  return { gossip: Math.round(gossip), sessions, total: Math.round(gossip) + sessions }
}

/** One sealed heartbeat as gossip carries it. */
function heartbeatMessageBytes(): number {
  const owner = `12D3KooW${'x'.repeat(44)}`
  // A signature and a peer id do not shrink.
  const sig = Uint8Array.from({ length: 64 }, (_, at) => (at * 167 + 13) % 256)
  const entry = {
    value: heartbeatValue(1_790_000_000_000),
    owner: owner.replace(/x/g, (_, at: number) => String.fromCharCode(97 + ((at * 7) % 26))),
    version: 1_790_000_000_000_000_001n,
    updatedAt: 1_790_000_000,
    deleted: false,
    sig,
  }
  const block = gzipSync(encodeBlock([{ bucket: BUCKETS.healthcheck, key: entry.owner, entry }]))
  return 2 * (block.length + SEAL_BYTES) + PUBSUB_BYTES
}
