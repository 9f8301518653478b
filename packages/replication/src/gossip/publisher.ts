/**
 * Sends entries over the topic in partial blocks: Index 0 and no Hash, which every member takes as 'these entries, and
 * nothing about others'. What waits while a block is on its way is sent together, each key once, in its last state.
 */
import { type Logger, positionId } from '@mesh/core'
import { type BlockHead, encodeBlock, type KeyedEntry } from '@mesh/ledger'
import type { Compression } from './compression.ts'
import { PUBLISH_BYTES } from '../limits.ts'
import type { ReplicationTopic } from '../ports.ts'

export interface PublisherComponents {
  readonly topic: ReplicationTopic
  readonly compression: Compression
  readonly logger: Logger
}

export class Publisher {
  readonly counts = { blocks: 0, entries: 0, bytes: 0, failed: 0 }
  readonly #components: PublisherComponents
  readonly #waiting = new Map<string, KeyedEntry>()
  #sending = false
  #draining = Promise.resolve()
  #stopped = false

  constructor(components: PublisherComponents) {
    this.#components = components
  }

  /** Queues entries; returns at once. */
  publish(entries: Iterable<KeyedEntry>): void {
    for (const keyed of entries) this.#waiting.set(positionId(keyed), keyed)
    if (!this.#sending && this.#waiting.size > 0) this.#draining = this.#drain()
  }

  /** Resolves when nothing waits to be sent. */
  drained(): Promise<void> {
    return this.#draining
  }

  /** Sends one block as it is, split only by size; resolves with its bytes on the wire, before sealing. */
  async send(entries: Iterable<KeyedEntry>, head?: BlockHead): Promise<number> {
    let bytes = 0
    for (const batch of batches(entries)) bytes += await this.#sendBatch(batch, head)
    return bytes
  }

  /** Publishes as `send` does, in one block whatever its size. */
  sendWhole(entries: Iterable<KeyedEntry>, head: BlockHead): Promise<number> {
    return this.#sendBatch([...entries], head)
  }

  stop(): void {
    this.#stopped = true
    this.#waiting.clear()
  }

  async #drain(): Promise<void> {
    this.#sending = true
    while (this.#waiting.size > 0 && !this.#stopped) {
      const batch = [...this.#waiting.values()]
      this.#waiting.clear()
      await this.send(batch)
    }
    this.#sending = false
  }

  /** A block that could not be sent is not repeated: whoever misses it finds out by its digest. */
  async #sendBatch(batch: readonly KeyedEntry[], head: BlockHead | undefined): Promise<number> {
    if (this.#stopped) return 0
    const { topic, compression, logger } = this.#components
    try {
      const plaintext = await compression.gzip(encodeBlock(batch, head))
      await topic.publish(plaintext)
      this.counts.blocks++
      this.counts.entries += batch.length
      this.counts.bytes += plaintext.length
      return plaintext.length
    } catch (error) {
      this.counts.failed++
      logger.debug('block not published', { entries: batch.length, error })
      return 0
    }
  }
}

/** Cuts entries into lists of about `PUBLISH_BYTES`. */
function* batches(entries: Iterable<KeyedEntry>): Generator<readonly KeyedEntry[]> {
  let batch: KeyedEntry[] = []
  let size = 0
  for (const keyed of entries) {
    batch.push(keyed)
    size += keyed.key.length + keyed.entry.value.length + ENVELOPE_BYTES
    if (size < PUBLISH_BYTES) continue
    yield batch
    batch = []
    size = 0
  }
  if (batch.length > 0) yield batch
}

/** Owner, version, signature and field names of one entry as JSON. */
const ENVELOPE_BYTES = 280
