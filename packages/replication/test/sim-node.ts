/** A member of the simulated network: a real ledger and a real replicator, with cheap signatures. */
import { createHmac } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type Clock, type PeerId, peerIdFromPublicKey, type Random, silentLogger } from '@mesh/core'
import {
  createLedger,
  type KeyedEntry,
  type Ledger,
  type LedgerEvent,
  type LedgerInit,
  type Signer,
  type Store,
  type StoreBatch,
  type Verify,
} from '@mesh/ledger'
import type { Compression } from '../src/gossip/compression.ts'
import type { ExpectedMembers } from '../src/presence/initial-sync.ts'
import { createReplicator, type Replicator, type ReplicatorInit } from '../src/replicator.ts'
import type { SimLink, SimNetwork } from './sim-network.ts'

/** Signs with a keyed hash of the public name: as good as a signature among those who do not cheat. */
export function createSimSigner(random: Random): Signer {
  const peerId = peerIdFromPublicKey(random.bytes(32))
  return { peerId, sign: (bytes) => simSignature(peerId, bytes) }
}

export const verifySim: Verify = (peer, bytes, sig) => Buffer.compare(simSignature(peer, bytes), sig) === 0

function simSignature(peer: PeerId, bytes: Uint8Array): Uint8Array {
  return createHmac('sha512', peer).update(bytes).digest()
}

/** A store that outlives its ledger, as a disk does. */
export function createRetainingStore(): Store {
  const entries = new Map<string, KeyedEntry>()
  const pruned = new Map<string, bigint>()
  let last: { head: StoreBatch['head']; fingerprint: string } | undefined
  const idOf = ({ bucket, key }: { bucket: string; key: string }) => JSON.stringify([bucket, key])
  return {
    load: () =>
      last && {
        ...last,
        entries: [...entries.values()],
        pruned: [...pruned].map(([hash, version]) => ({ hash, version })),
      },
    commit(batch) {
      last = { head: batch.head, fingerprint: batch.fingerprint }
      for (const position of batch.removes) entries.delete(idOf(position))
      for (const keyed of batch.puts) entries.set(idOf(keyed), keyed)
      for (const hash of batch.forgotten) pruned.delete(hash)
      for (const { hash, version } of batch.pruned) pruned.set(hash, version)
    },
    close() {},
  }
}

const WHITE_SPACE = ' \t\r\n'
const TRAILER_LENGTH = 8

/**
 * No compression: a simulation is not about it. As a gzip does, a block ends with a checksum, by which repeated ones are
 * told; here in white space, which JSON allows.
 */
const plainCompression: Compression = {
  gzip(bytes) {
    const sum = crc32(bytes)
    const trailer = Array.from({ length: TRAILER_LENGTH }, (_, at) => WHITE_SPACE[(sum >>> (2 * at)) & 3])
    return Buffer.concat([bytes, Buffer.from(trailer.join(''))])
  },
  inflatedBytes: (bytes) => bytes.length,
  gunzip(bytes, maxBytes) {
    if (bytes.length > maxBytes) return undefined
    const isSummed = bytes
      .subarray(-TRAILER_LENGTH)
      .every((byte) => WHITE_SPACE.includes(String.fromCharCode(byte)))
    return isSummed ? bytes.subarray(0, -TRAILER_LENGTH) : bytes
  },
}

export interface SimNode {
  readonly id: PeerId
  readonly signer: Signer
  readonly clock: Clock
  readonly ledger: Ledger
  readonly replicator: Replicator
  readonly events: LedgerEvent[]
  readonly link: SimLink
  /** Sets this node's clock, as a time service or a person does. */
  setClock(aheadMs: number): void
  /** As if the process was killed. */
  kill(): Promise<void>
}

export interface SimNodeInit {
  readonly signer: Signer
  /** How far this node's clock is ahead. */
  readonly skewMs?: number
  /** The longest time that a timer fires late, as where the machine is busy. */
  readonly lateMs?: number
  readonly ledger?: LedgerInit
  readonly replicator?: ReplicatorInit
  readonly store?: Store
  readonly neighbours?: (peer: PeerId) => boolean
  readonly compression?: Compression
  readonly expectedMembers?: () => ExpectedMembers
  /** False for owners whose entries this node refuses. */
  readonly admits?: (owner: string) => boolean
}

export interface SimSurroundings {
  readonly network: SimNetwork
  readonly clock: Clock
  readonly random: Random
}

export async function startSimNode(init: SimNodeInit, at: SimSurroundings): Promise<SimNode> {
  const { signer, lateMs = 0 } = init
  let { skewMs = 0 } = init
  const lateBy = () => (lateMs === 0 ? 0 : at.random.float() * lateMs)
  const clock: Clock = {
    now: () => at.clock.now() + skewMs,
    monotonic: () => at.clock.monotonic(),
    // virtual time passes by no work, so that a turn of the event loop takes none
    after: (delayMs, run) => at.clock.after(delayMs === 0 ? 0 : delayMs + lateBy(), run),
  }
  const ledger = createLedger(init.ledger ?? {}, {
    signer,
    verify: verifySim,
    clock,
    ...(init.store === undefined ? {} : { store: init.store }),
    ...(init.admits !== undefined && { admits: init.admits }),
  })
  const events: LedgerEvent[] = []
  ledger.subscribe((event) => {
    if (event.type !== 'committed') events.push(event)
  })
  const link = at.network.join(signer.peerId, init.neighbours)
  const replicator = createReplicator(init.replicator ?? {}, {
    ledger,
    topic: link.topic,
    channels: link.channels,
    clock,
    random: at.random,
    logger: silentLogger,
    compression: init.compression ?? plainCompression,
    ...(init.expectedMembers !== undefined && { expectedMembers: init.expectedMembers }),
  })
  await replicator.start()
  const kill = async () => {
    link.unplug()
    // the ledger first: a process that is killed says nothing any more
    await ledger.stop()
    await replicator.stop()
  }
  const setClock = (aheadMs: number) => {
    skewMs = aheadMs
  }
  return { id: signer.peerId, signer, clock, ledger, replicator, events, link, setClock, kill }
}

/** Live entries without heartbeats, as text. */
export function contentOf(ledger: Ledger, but: ReadonlySet<string> = new Set()): string[] {
  return [...ledger.snapshot().entries()].filter((keyed) => isContent(keyed, but)).map(describeEntry)
}

function isContent({ bucket, key, entry }: KeyedEntry, but: ReadonlySet<string>): boolean {
  return !entry.deleted && bucket !== 'healthcheck' && !but.has(`${bucket}/${key}`)
}

function describeEntry({ bucket, key, entry }: KeyedEntry): string {
  return `${bucket}/${key} = ${entry.value} by ${entry.owner.slice(-6)} at ${entry.version}`
}
