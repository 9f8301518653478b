/**
 * Bounds what unfinished frames hold, and long ones that wait to be handled, of all peers together: each may be as long
 * as the network's longest message. A frame has to come on. A member with many keys ends its own frames only.
 */
import type { Clock } from '@mesh/core'
import { type Place, Scope, type ScopeLimits } from '@mesh/core/limits'
import {
  FRAME_BASE_MS,
  HELD_SPARE_BYTES,
  MAX_HELD_BYTES,
  MAX_HELD_BYTES_PER_PEER,
  MAX_STRANGERS_HELD_BYTES,
  MIN_FRAME_BYTES_PER_S,
} from './limits.ts'

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
  readonly #bytes: Scope

  constructor(init: HeldBytesInit) {
    this.#init = init
    this.#bytes = new Scope(heldLimits(init))
  }

  /** Gives the function that is told what one stream holds. @throws TooMuchHeldError */
  track({ peer, address, abort }: HolderInit): TellHeld {
    const { isMember, clock } = this.#init
    const timer = new FrameTimer(clock, abort)
    const isUnproven = () => !isMember(peer)
    const tooMuch = () => new TooMuchHeldError('unfinished frames hold too much')
    const end = () => {
      timer.stop()
      place = undefined
      abort(tooMuch())
    }
    let place: Place | undefined
    return (bytes, isWhole = false) => {
      timer.hold(bytes, isWhole)
      if (bytes === 0) {
        place?.release()
        place = undefined
        return
      }
      const isHeld =
        place === undefined
          ? (place = this.#bytes.reserve({ peer, address, size: bytes, isUnproven, end })) !== undefined
          : place.resize(bytes)
      if (isHeld) return
      timer.stop()
      place = undefined
      throw tooMuch()
    }
  }

  /** The bytes of all frames that are held. */
  get bytes(): number {
    return this.#bytes.total
  }
}

/** Strangers have room for a longest frame, too: it may be the first by which a legacy member shows that it is one. */
function heldLimits({ maxFrameBytes, maxStrangersBytes }: HeldBytesInit): ScopeLimits {
  const longest = maxFrameBytes + HELD_SPARE_BYTES
  const perPeer = Math.max(MAX_HELD_BYTES_PER_PEER, longest)
  return {
    all: MAX_HELD_BYTES + perPeer - MAX_HELD_BYTES_PER_PEER,
    perPeer,
    unproven: maxStrangersBytes ?? Math.max(MAX_STRANGERS_HELD_BYTES, longest),
    evict: 'largest',
  }
}

/** Ends a stream whose frame does not come on. */
class FrameTimer {
  readonly #clock: Clock
  readonly #abort: (error: TooMuchHeldError) => void
  #bytes = 0
  #sinceMs = 0
  #cancel = () => {}

  constructor(clock: Clock, abort: (error: TooMuchHeldError) => void) {
    this.#clock = clock
    this.#abort = abort
  }

  stop(): void {
    this.hold(0, true)
  }

  hold(bytes: number, isWhole: boolean): void {
    if (bytes === 0 || isWhole) this.#cancel()
    else if (bytes < this.#bytes || this.#bytes === 0) {
      this.#sinceMs = this.#clock.monotonic()
      this.#checkAfter(FRAME_BASE_MS)
    }
    this.#bytes = bytes
  }

  #checkAfter(ms: number): void {
    this.#cancel()
    this.#cancel = this.#clock.after(ms, () => {
      const allowedMs = FRAME_BASE_MS + (this.#bytes / MIN_FRAME_BYTES_PER_S) * 1000
      const leftMs = this.#sinceMs + allowedMs - this.#clock.monotonic()
      if (leftMs > 0) return this.#checkAfter(leftMs)
      this.#abort(new TooMuchHeldError('a frame does not come on'))
    })
  }
}
