/**
 * Handles the messages of the topic.
 *
 * 1. Charges the connected author, or else the peer that forwarded the message.
 * 2. Queues it within one budget.
 * 3. Skips an exact repetition.
 * 4. Inflates it and has the ledger judge it.
 * 5. Learns from its form who sent it, and whether the author is a member.
 *
 * Charged peers take turns. Blocks of one author are judged one after the other.
 */
import { BoundedMap, type Clock, type Logger, type PeerId } from '@mesh/core'
import { createRate, type RateLimit } from '@mesh/core/limits'
import type { Ledger } from '@mesh/ledger'
import { type BlockForm, blockFormOf } from './block-form.ts'
import type { Compression } from './compression.ts'
import {
  GOSSIP_MEMORY_BYTES,
  INFLATED_BYTES_RATE,
  MAX_INFLATED_BYTES,
  MAX_MEMBERS_REMEMBERED,
  MAX_PARALLEL_BLOCKS,
  REPEATED_BLOCK_MS,
  SMALL_BLOCK_BYTES,
  SMALL_BLOCKS_RATE,
} from '../limits.ts'
import type { TopicMessage } from '../ports.ts'
import type { Members } from '../presence/members.ts'
import { isSignedByMember } from '../presence/signed-by-member.ts'
import { type WaitingBlock, WaitingBlocks } from './waiting-blocks.ts'

export type ReceiveRefusal = 'OVERLOAD' | 'NOT_GZIP'

export interface BlockReceiverInit {
  /** Bytes that waiting and inflated messages may take together; `GOSSIP_MEMORY_BYTES` by default. */
  readonly maxBytes?: number | undefined
  /** Called when the ledger is through with a block, and for each repetition of it. */
  readonly onBlock: (author: PeerId, form: BlockForm) => void
  /** Called when an author showed by what it signed that it is a member. */
  readonly onMember: (author: PeerId) => void
}

export interface BlockReceiverComponents {
  readonly ledger: Pick<Ledger, 'receiveBlock' | 'self' | 'snapshot' | 'mode'>
  readonly members: Pick<Members, 'isOurs'>
  readonly compression: Compression
  readonly clock: Clock
  readonly logger: Logger
}

/** The last block of an author that was judged. */
interface Judged {
  /** Tells an exact repetition: the length and the trailer of the gzip. */
  readonly mark: string
  readonly form: BlockForm
  readonly atMs: number
}

/** The bytes at the end of a gzip: checksum and length of what it holds. */
const TRAILER_BYTES = 8

export class BlockReceiver {
  readonly counts = { messages: 0, repeated: 0, bytes: 0, accepted: 0, rejected: 0 }
  readonly refused: Partial<Record<ReceiveRefusal, number>> = {}
  readonly #init: BlockReceiverInit
  readonly #components: BlockReceiverComponents
  readonly #smallRate: RateLimit
  readonly #largeRate: RateLimit
  readonly #waiting: WaitingBlocks
  readonly #last = new BoundedMap<PeerId, Judged>(MAX_MEMBERS_REMEMBERED)
  #cancelWork: (() => void) | undefined
  #stopped = false

  constructor(init: BlockReceiverInit, components: BlockReceiverComponents) {
    this.#init = init
    this.#components = components
    this.#smallRate = createRate(SMALL_BLOCKS_RATE, components.clock)
    this.#largeRate = createRate(INFLATED_BYTES_RATE, components.clock)
    const { maxBytes = GOSSIP_MEMORY_BYTES } = init
    this.#waiting = new WaitingBlocks({ maxBytes, parallel: MAX_PARALLEL_BLOCKS })
  }

  /** Takes a message to judge it soon; false when it is refused, so that it is not passed on either. */
  take({ author, plaintext, from }: TopicMessage): boolean {
    if (this.#stopped || author === this.#components.ledger.self) return true
    this.counts.messages++
    this.counts.bytes += plaintext.length
    const last = this.#last.get(author)
    if (last !== undefined && this.#isRepeated(last, plaintext)) return this.#takeRepeated(author, last)
    const inflatedBytes = this.#components.compression.inflatedBytes(plaintext)
    if (inflatedBytes === undefined || inflatedBytes > MAX_INFLATED_BYTES)
      return this.#refuse('NOT_GZIP', author)
    const charged = this.#chargedFor(author, from)
    const isTaken =
      this.#mayInflate(charged, inflatedBytes) &&
      this.#waiting.add({ author, plaintext, charged, inflatedBytes })
    if (!isTaken) return this.#refuse('OVERLOAD', author)
    // whoever passes the message on does so first
    this.#cancelWork ??= this.#components.clock.after(0, () => this.#work())
    return true
  }

  /**
   * Charges a connected member for what it wrote, whichever peer forwards it. Other messages are charged to the forwarding
   * peer, apart from its own. So a peer that floods the topic delays nobody behind it.
   */
  #chargedFor(author: PeerId, from: string): string {
    return author === from || this.#components.members.isOurs(author) ? author : `by ${from}`
  }

  #mayInflate(peer: string, bytes: number): boolean {
    return bytes <= SMALL_BLOCK_BYTES ? this.#smallRate.take({ peer }) : this.#largeRate.take({ peer }, bytes)
  }

  stop(): void {
    this.#stopped = true
    this.#cancelWork?.()
    this.#waiting.clear()
    this.#last.clear()
  }

  /** Begins with as many as may be judged at a time. */
  #work(): void {
    this.#cancelWork = undefined
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const block = next
      void this.#judge(block).finally(() => {
        this.#waiting.done(block)
        this.#work()
      })
    }
  }

  #next(): WaitingBlock | undefined {
    return this.#stopped ? undefined : this.#waiting.next()
  }

  /** Legacy members send the same whole block every few seconds. */
  #isRepeated({ mark, atMs }: Judged, plaintext: Uint8Array): boolean {
    return this.#components.clock.monotonic() - atMs < REPEATED_BLOCK_MS && mark === markOf(plaintext)
  }

  #takeRepeated(author: PeerId, { form }: Judged): true {
    this.counts.repeated++
    this.#tell(author, form)
    return true
  }

  async #judge({ author, plaintext, inflatedBytes }: WaitingBlock): Promise<void> {
    const { compression, clock, ledger, logger } = this.#components
    try {
      const inflated = await compression.gunzip(plaintext, inflatedBytes)
      const atMs = clock.monotonic()
      if (inflated === undefined) return void this.#refuse('NOT_GZIP', author)
      const { accepted, rejected } = await ledger.receiveBlock(inflated, author)
      this.counts.accepted += accepted
      this.counts.rejected += rejected.length
      if (this.#stopped) return
      const form = blockFormOf(inflated)
      this.#last.set(author, { mark: markOf(plaintext), form, atMs })
      this.#tell(author, form)
    } catch (error) {
      logger.error('block not judged', { author, error })
    }
  }

  #tell(author: PeerId, form: BlockForm): void {
    const { ledger, clock } = this.#components
    if (isSignedByMember({ ledger, author }, clock.now())) this.#init.onMember(author)
    this.#init.onBlock(author, form)
  }

  #refuse(code: ReceiveRefusal, author: PeerId): false {
    this.refused[code] = (this.refused[code] ?? 0) + 1
    this.#components.logger.debug('message refused', { code, author })
    return false
  }
}

function markOf(gzip: Uint8Array): string {
  return `${gzip.length} ${gzip.subarray(-TRAILER_BYTES).join(' ')}`
}
