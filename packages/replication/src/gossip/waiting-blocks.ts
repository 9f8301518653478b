/**
 * Messages that wait to be judged, and which is next. Keys cost nothing, so bounds by author alone bound nothing. What waits
 * and what is judged counts against one budget, and each charged peer has a share of it. The next message is that of the
 * peer for which the node will have worked the least, the message included. Pure: sizes and times in, decisions out.
 */
import { BoundedMap, KeyedCounts, type PeerId } from '@mesh/core'
import {
  MAX_JUDGED_BYTES,
  MAX_MEMBERS_REMEMBERED,
  MAX_WAITING_MESSAGES,
  SMALL_BLOCK_BYTES,
  WAITING_MESSAGE_BYTES,
} from '../limits.ts'

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
  /** The blocks that wait, by the peer that is charged; of peers with equal times the first one's turn is next. */
  readonly #byPeer = new Map<string, WaitingBlock[]>()
  /** How many wait, by author. */
  readonly #byAuthor = new KeyedCounts<PeerId>()
  /** How long this node worked for each peer, in ms; one that comes back begins with what the last one had. */
  readonly #usedMs = new BoundedMap<string, number>(MAX_MEMBERS_REMEMBERED)
  #lastUsedMs = 0
  /** Bytes that wait, by peer. */
  readonly #bytes = new Map<string, number>()
  readonly #judged = new Set<WaitingBlock>()
  #waitingBytes = 0
  #judgedBytes = 0

  constructor(init: WaitingBlocksInit) {
    this.#init = init
  }

  /** The bytes that wait or are inflated. */
  get bytes(): number {
    return this.#waitingBytes + this.#judgedBytes
  }

  /** Takes a message, if need be in place of the last ones of a peer that holds more; false when there is no place. */
  add(block: WaitingBlock): boolean {
    const length = heldBytes(block)
    // half is for what is inflated
    const most = this.#init.maxBytes / 2
    if (length > most || this.#byAuthor.of(block.author) >= MAX_WAITING_MESSAGES) return false
    while (this.#waitingBytes + length > most) {
      const [peer, bytes] = this.#greatest()
      if (peer === undefined || bytes <= this.#bytesOf(block.charged) + length) return false
      this.#drop(peer)
    }
    const own = this.#byPeer.get(block.charged)
    if (own === undefined) this.#begin(block)
    else own.push(block)
    this.#byAuthor.add(block.author)
    this.#count(block.charged, length)
    return true
  }

  /** Takes the next message out that may be judged now; `done` has to follow. */
  next(): WaitingBlock | undefined {
    if (this.#judged.size >= this.#init.parallel) return undefined
    const peer = this.#peerInTurn()
    const blocks = peer === undefined ? undefined : this.#byPeer.get(peer)
    const block = blocks?.[0]
    if (peer === undefined || blocks === undefined || block === undefined) return undefined
    this.#lastUsedMs = this.#usedOf(peer)
    this.#remove(peer, block)
    // the others have their turn first
    if (blocks.length > 0) {
      this.#byPeer.delete(peer)
      this.#byPeer.set(peer, blocks)
    }
    this.#judged.add(block)
    this.#judgedBytes += judgedBytes(block)
    return block
  }

  /** Charges the peer for the time that it took, in ms. */
  done(block: WaitingBlock, tookMs: number): void {
    if (!this.#judged.delete(block)) return
    this.#judgedBytes -= judgedBytes(block)
    this.#usedMs.set(block.charged, this.#usedOf(block.charged) + tookMs)
  }

  /** Forgets all blocks that wait. */
  clear(): void {
    for (const peer of this.#byPeer.keys()) while (this.#byPeer.has(peer)) this.#drop(peer)
  }

  #begin(block: WaitingBlock): void {
    this.#byPeer.set(block.charged, [block])
    // who rested has saved nothing up
    this.#usedMs.set(block.charged, Math.max(this.#usedOf(block.charged), this.#lastUsedMs))
  }

  /** Gives the peer for which this node will have worked the least after its next message, among those whose may begin. */
  #peerInTurn(): string | undefined {
    let [inTurn, least]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY]
    for (const [peer, [block]] of this.#byPeer) {
      if (block === undefined) continue
      const usedMs = this.#usedOf(peer) + expectedMs(block)
      if (usedMs < least && this.#mayBegin(block)) [inTurn, least] = [peer, usedMs]
    }
    return inTurn
  }

  #usedOf(peer: string): number {
    return this.#usedMs.get(peer) ?? this.#lastUsedMs
  }

  #mayBegin(block: WaitingBlock): boolean {
    const others = [...this.#judged]
    if (others.some(({ author }) => author === block.author)) return false
    if (block.inflatedBytes <= SMALL_BLOCK_BYTES) return true
    if (others.some(({ inflatedBytes }) => inflatedBytes > SMALL_BLOCK_BYTES)) return false
    return this.#judgedBytes === 0 || this.bytes + judgedBytes(block) <= this.#init.maxBytes
  }

  /** The peer whose messages take the most. */
  #greatest(): readonly [string | undefined, number] {
    let [greatest, most]: [string | undefined, number] = [undefined, 0]
    for (const [peer, bytes] of this.#bytes) if (bytes > most) [greatest, most] = [peer, bytes]
    return [greatest, most]
  }

  #drop(peer: string): void {
    const last = this.#byPeer.get(peer)?.at(-1)
    if (last !== undefined) this.#remove(peer, last)
  }

  #remove(peer: string, block: WaitingBlock): void {
    const blocks = this.#byPeer.get(peer) ?? []
    blocks.splice(blocks.lastIndexOf(block), 1)
    if (blocks.length === 0) this.#byPeer.delete(peer)
    this.#byAuthor.remove(block.author)
    this.#count(peer, -heldBytes(block))
  }

  #bytesOf(peer: string): number {
    return this.#bytes.get(peer) ?? 0
  }

  #count(peer: string, change: number): void {
    this.#waitingBytes += change
    const bytes = this.#bytesOf(peer) + change
    if (bytes === 0) this.#bytes.delete(peer)
    else this.#bytes.set(peer, bytes)
  }
}

/**
 * How long judging a block may take, in ms: an entry of 250 bytes takes one. As its sender chooses what a long one holds, and most
 * long ones take less, none counts for more than a second.
 */
const expectedMs = ({ inflatedBytes }: WaitingBlock) => Math.min(inflatedBytes / 250, 1_000)

const heldBytes = ({ plaintext }: WaitingBlock) => plaintext.length + WAITING_MESSAGE_BYTES

/** The bytes that a block takes while it is judged: its gzip, and all that it inflates to, or some pieces of it. */
const judgedBytes = ({ plaintext, inflatedBytes }: WaitingBlock) =>
  plaintext.length + Math.min(inflatedBytes, MAX_JUDGED_BYTES)
