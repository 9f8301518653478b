/**
 * Messages that wait to be judged, and which is next. Keys cost nothing, so bounds by author alone bound nothing. What waits
 * and what is judged counts against one budget, of which each charged peer has its part. Charged peers take turns. Pure.
 */
import type { PeerId } from '@mesh/core'
import { type Place, Scope } from '@mesh/core/limits'
import { SMALL_BLOCK_BYTES, WAITING_MESSAGE_BYTES } from '../limits.ts'

export interface WaitingBlock {
  readonly author: PeerId
  readonly plaintext: Uint8Array
  /** The peer that is charged for it: who passed it on, or who wrote it. */
  readonly charged: string
  /** How many bytes it says that it inflates to. */
  readonly inflatedBytes: number
}

interface WaitingBlocksInit {
  /** The bytes that waiting and inflated messages may take together. */
  readonly maxBytes: number
  /** The messages that may be inflated at a time; one place is for small ones alone. */
  readonly parallel: number
}

export class WaitingBlocks {
  readonly #init: WaitingBlocksInit
  /** The blocks that wait and their places, by the peer that is charged; the first one is next. */
  readonly #byPeer = new Map<string, Map<WaitingBlock, Place>>()
  readonly #places: Scope
  readonly #judged = new Set<WaitingBlock>()
  #judgedBytes = 0

  constructor(init: WaitingBlocksInit) {
    this.#init = init
    // half is for what is inflated
    this.#places = new Scope({ all: init.maxBytes / 2 })
  }

  /** The bytes that wait or are inflated. */
  get bytes(): number {
    return this.#places.total + this.#judgedBytes
  }

  /** Takes a message, if need be in place of the last ones of a peer that holds more; false when there is no place. */
  add(block: WaitingBlock): boolean {
    const { charged: peer, plaintext } = block
    const size = plaintext.length + WAITING_MESSAGE_BYTES
    const place = this.#places.reserve({ peer, size, end: () => this.#remove(block) })
    if (place === undefined) return false
    const own = this.#byPeer.get(peer) ?? new Map<WaitingBlock, Place>()
    this.#byPeer.set(peer, own.set(block, place))
    return true
  }

  /** Takes the next message out that may be judged now; `done` has to follow. */
  next(): WaitingBlock | undefined {
    if (this.#judged.size >= this.#init.parallel) return undefined
    for (const [peer, blocks] of this.#byPeer) {
      const [block] = blocks.keys()
      if (block === undefined || !this.#mayBegin(block)) continue
      this.#remove(block)
      // the others have their turn first
      this.#byPeer.delete(peer)
      if (blocks.size > 0) this.#byPeer.set(peer, blocks)
      this.#judged.add(block)
      this.#judgedBytes += judgedBytes(block)
      return block
    }
    return undefined
  }

  done(block: WaitingBlock): void {
    if (this.#judged.delete(block)) this.#judgedBytes -= judgedBytes(block)
  }

  /** Forgets all blocks that wait. */
  clear(): void {
    for (const blocks of this.#byPeer.values()) for (const block of blocks.keys()) this.#remove(block)
  }

  #mayBegin(block: WaitingBlock): boolean {
    const others = [...this.#judged]
    if (others.some(({ author }) => author === block.author)) return false
    if (block.inflatedBytes <= SMALL_BLOCK_BYTES) return true
    if (others.some(({ inflatedBytes }) => inflatedBytes > SMALL_BLOCK_BYTES)) return false
    return this.#judgedBytes === 0 || this.bytes + judgedBytes(block) <= this.#init.maxBytes
  }

  #remove(block: WaitingBlock): void {
    const blocks = this.#byPeer.get(block.charged)
    blocks?.get(block)?.release()
    blocks?.delete(block)
    if (blocks?.size === 0) this.#byPeer.delete(block.charged)
  }
}

/** The bytes that a block takes while it is judged: its gzip, and all that it inflates to. */
const judgedBytes = ({ plaintext, inflatedBytes }: WaitingBlock) => plaintext.length + inflatedBytes
