/**
 * Messages of the topic: 1 wait behind the author's earlier ones, within bounds, 2 skip an exact repetition,
 * 3 inflate, 4 tell by its form who sent it, 5 let the ledger judge it. Authors do not wait for each other.
 */
import type { Clock, Logger, PeerId } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import { type BlockForm, blockFormOf } from '../legacy/block-form.ts'
import type { Compression } from './compression.ts'
import {
  MAX_INFLATED_BYTES,
  MAX_MEMBERS_REMEMBERED,
  MAX_WAITING_BYTES,
  MAX_WAITING_MESSAGES,
  REPEATED_BLOCK_MS,
} from '../limits.ts'
import { equalBytes } from '../session/position.ts'

interface TopicMessage {
  readonly author: PeerId
  readonly plaintext: Uint8Array
}

export type ReceiveRefusal = 'OVERLOAD' | 'NOT_GZIP'

export interface BlockReceiver {
  take(message: TopicMessage): void
  readonly counts: { messages: number; repeated: number; bytes: number; accepted: number; rejected: number }
  readonly refused: Partial<Record<ReceiveRefusal, number>>
  stop(): void
}

export interface BlockReceiverInit {
  /** Called when the ledger is through with a block, and for each repetition of it. */
  readonly onBlock: (author: PeerId, form: BlockForm) => void
}

export interface BlockReceiverComponents {
  readonly ledger: Pick<Ledger, 'receiveBlock' | 'self'>
  readonly compression: Compression
  readonly clock: Clock
  readonly logger: Logger
}

interface Author {
  readonly waiting: Uint8Array[]
  waitingBytes: number
  busy: boolean
  last: Judged | undefined
}

interface Judged {
  readonly plaintext: Uint8Array
  readonly form: BlockForm
  readonly atMs: number
}

export function createBlockReceiver(
  init: BlockReceiverInit,
  components: BlockReceiverComponents,
): BlockReceiver {
  return new TopicBlockReceiver(init, components)
}

class TopicBlockReceiver implements BlockReceiver {
  readonly counts = { messages: 0, repeated: 0, bytes: 0, accepted: 0, rejected: 0 }
  readonly refused: Partial<Record<ReceiveRefusal, number>> = {}
  readonly #init: BlockReceiverInit
  readonly #components: BlockReceiverComponents
  readonly #authors = new Map<PeerId, Author>()
  #stopped = false

  constructor(init: BlockReceiverInit, components: BlockReceiverComponents) {
    this.#init = init
    this.#components = components
  }

  take({ author, plaintext }: TopicMessage): void {
    if (this.#stopped || author === this.#components.ledger.self) return
    this.counts.messages++
    this.counts.bytes += plaintext.length
    const state = this.#authorOf(author)
    const fits =
      state.waiting.length < MAX_WAITING_MESSAGES &&
      state.waitingBytes + plaintext.length <= MAX_WAITING_BYTES
    if (!fits) return this.#refuse('OVERLOAD', author)
    state.waiting.push(plaintext)
    state.waitingBytes += plaintext.length
    if (!state.busy) void this.#work(author, state)
  }

  stop(): void {
    this.#stopped = true
    this.#authors.clear()
  }

  #authorOf(author: PeerId): Author {
    const known = this.#authors.get(author)
    const state = known ?? { waiting: [], waitingBytes: 0, busy: false, last: undefined }
    // The one heard longest ago comes first, and is forgotten first.
    this.#authors.delete(author)
    this.#authors.set(author, state)
    if (this.#authors.size > MAX_MEMBERS_REMEMBERED) {
      for (const [id, { busy }] of this.#authors) {
        if (busy) continue
        this.#authors.delete(id)
        break
      }
    }
    return state
  }

  async #work(author: PeerId, state: Author): Promise<void> {
    state.busy = true
    for (let next = state.waiting.shift(); next !== undefined; next = state.waiting.shift()) {
      state.waitingBytes -= next.length
      if (this.#stopped) break
      if (this.#isRepeated(state, next)) this.counts.repeated++
      else state.last = await this.#judge(author, next)
      if (state.last !== undefined && !this.#stopped) this.#init.onBlock(author, state.last.form)
    }
    state.busy = false
  }

  /** Legacy members send the same whole block every few seconds. */
  #isRepeated({ last }: Author, plaintext: Uint8Array): boolean {
    if (last === undefined || this.#components.clock.monotonic() - last.atMs >= REPEATED_BLOCK_MS)
      return false
    return equalBytes(last.plaintext, plaintext)
  }

  async #judge(author: PeerId, plaintext: Uint8Array): Promise<Judged | undefined> {
    const { compression, ledger, clock, logger } = this.#components
    try {
      const json = await compression.gunzip(plaintext, MAX_INFLATED_BYTES)
      if (json === undefined) return this.#refuse('NOT_GZIP', author)
      const form = blockFormOf(json)
      const atMs = clock.monotonic()
      const { accepted, rejected } = await ledger.receiveBlock(json, author)
      this.counts.accepted += accepted
      this.counts.rejected += rejected.length
      return { plaintext, form, atMs }
    } catch (error) {
      logger.error('block not judged', { author, error })
      return undefined
    }
  }

  #refuse(code: ReceiveRefusal, author: PeerId): undefined {
    this.refused[code] = (this.refused[code] ?? 0) + 1
    this.#components.logger.debug('message refused', { code, author })
  }
}
