/**
 * Bounds what unfinished frames hold, and long ones that wait to be handled, of all peers together: each may be as long
 * as the network's longest message. A frame has to come on, and when all of them hold too much, the largest of the
 * address that holds the most ends. So a member with many keys ends its own frames and nobody else's.
 */
import { type Clock, greatestGroup } from '@mesh/core'
import {
  FRAME_BASE_MS,
  HELD_SPARE_BYTES,
  MAX_HELD_BYTES,
  MAX_HELD_BYTES_PER_PEER,
  MAX_STRANGERS_HELD_BYTES,
  MIN_FRAME_BYTES_PER_S,
} from '../gossip-limits.ts'

/** An unfinished frame was ended: its peer holds too much, or it does not come on. */
export class TooMuchHeldError extends Error {
  override readonly name = 'TooMuchHeldError'
}

interface HolderInit {
  readonly peer: string
  /** The group that its connection counts under: `addressGroupOf`. */
  readonly address: string
  /** Ends the stream whose frame it is. */
  readonly abort: (error: TooMuchHeldError) => void
}

interface HeldBytesInit {
  readonly isMember: (peer: string) => boolean
  /** The network's longest gossip frame: each of the bounds has room for one. */
  readonly maxFrameBytes: number
  /** How many bytes all strangers may hold together, where none of them has to have room for such a frame. */
  readonly maxStrangersBytes?: number
  readonly clock: Clock
}

/**
 * @param bytes how many the stream holds; 0 ends the frame
 * @param isWhole true for a frame that waits to be handled, which may take as long as it takes
 */
export type TellHeld = (bytes: number, isWhole?: boolean) => void

export class HeldBytes {
  readonly #init: HeldBytesInit
  readonly #bounds: HeldBounds
  readonly #holders = new Set<Holder>()

  constructor(init: HeldBytesInit) {
    this.#init = init
    const { maxFrameBytes, maxStrangersBytes } = init
    const bounds = heldBounds(maxFrameBytes)
    this.#bounds = { ...bounds, strangers: maxStrangersBytes ?? bounds.strangers }
  }

  /** Gives the function that is told what one stream holds. @throws TooMuchHeldError */
  track(init: HolderInit): TellHeld {
    const holder = new Holder(init, this.#init.clock)
    return (bytes, isWhole = false) => {
      const grows = bytes > holder.bytes
      holder.hold(bytes, isWhole)
      if (bytes === 0) this.#holders.delete(holder)
      else this.#holders.add(holder)
      if (grows) this.#enforce(holder)
    }
  }

  /** The bytes of all frames that are held. */
  get bytes(): number {
    return sum(this.#holders)
  }

  #enforce(grown: Holder): void {
    // below it no bound can be passed
    const least = Math.min(this.#bounds.strangers, this.#bounds.perPeer)
    while (this.bytes > least) {
      const surplus = this.#surplus(grown)
      if (surplus === undefined) return
      this.#end(surplus, grown)
    }
  }

  /** The holders of which one has to end now; undefined when nobody holds too much. Strangers go before members. */
  #surplus(grown: Holder): readonly Holder[] | undefined {
    const { perPeer, strangers: ofStrangers, all } = this.#bounds
    const holders = [...this.#holders]
    const own = holders.filter(({ peer }) => peer === grown.peer)
    if (sum(own) > perPeer) return own
    const strangers = holders.filter(({ peer }) => !this.#init.isMember(peer))
    const isTooMuch = sum(holders) > all
    if (sum(strangers) > ofStrangers || (isTooMuch && strangers.length > 0))
      return ofGreatestAddress(strangers)
    return isTooMuch ? ofGreatestAddress(holders) : undefined
  }

  /** Ends the largest; throws where that is the one that has just grown. */
  #end(holders: readonly Holder[], grown: Holder): void {
    const largest = holders.reduce((a, b) => (b.bytes > a.bytes ? b : a))
    const error = new TooMuchHeldError('unfinished frames hold too much')
    largest.hold(0)
    this.#holders.delete(largest)
    if (largest === grown) throw error
    largest.abort(error)
  }
}

/** How many bytes may be held: by one peer, by all strangers together, by everybody. */
interface HeldBounds {
  readonly perPeer: number
  readonly strangers: number
  readonly all: number
}

/** Strangers have room for a longest frame, too: it may be the first by which a legacy member shows that it is one. */
function heldBounds(maxFrameBytes: number): HeldBounds {
  const longest = maxFrameBytes + HELD_SPARE_BYTES
  const perPeer = Math.max(MAX_HELD_BYTES_PER_PEER, longest)
  return {
    perPeer,
    strangers: Math.max(MAX_STRANGERS_HELD_BYTES, longest),
    all: MAX_HELD_BYTES + perPeer - MAX_HELD_BYTES_PER_PEER,
  }
}

function ofGreatestAddress(holders: readonly Holder[]): readonly Holder[] {
  return greatestGroup(
    holders,
    ({ address }) => address,
    ({ bytes }) => bytes,
  )
}

function sum(holders: Iterable<Holder>): number {
  let bytes = 0
  for (const holder of holders) bytes += holder.bytes
  return bytes
}

/** Holds the frame of one stream. */
class Holder {
  readonly peer: string
  readonly address: string
  readonly abort: (error: TooMuchHeldError) => void
  bytes = 0
  readonly #clock: Clock
  #sinceMs = 0
  #cancel = () => {}

  constructor({ peer, address, abort }: HolderInit, clock: Clock) {
    this.peer = peer
    this.address = address
    this.abort = abort
    this.#clock = clock
  }

  hold(bytes: number, isWhole = false): void {
    if (bytes === 0 || isWhole) this.#cancel()
    else if (bytes < this.bytes || this.bytes === 0) {
      this.#sinceMs = this.#clock.monotonic()
      this.#checkAfter(FRAME_BASE_MS)
    }
    this.bytes = bytes
  }

  #checkAfter(ms: number): void {
    this.#cancel()
    this.#cancel = this.#clock.after(ms, () => {
      const allowedMs = FRAME_BASE_MS + (this.bytes / MIN_FRAME_BYTES_PER_S) * 1000
      const leftMs = this.#sinceMs + allowedMs - this.#clock.monotonic()
      if (leftMs > 0) return this.#checkAfter(leftMs)
      this.abort(new TooMuchHeldError('a frame does not come on'))
    })
  }
}
