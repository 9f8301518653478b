/**
 * Bounds what waits on the gossip streams to peers that read slowly, in all. Gossipsub bounds each stream by the longest frame. A frame
 * for several peers is held once, so it counts once. The fullest stream of the fullest address is reset. It opens again, and
 * its peer compares ledgers.
 */
import type { Stream } from '@libp2p/interface'
import { greatestGroup, type Logger } from '@mesh/core'

/** A stream to a peer, as gossipsub holds it: it keeps what the peer has not taken yet. */
export interface GossipSender {
  readonly rawStream: Pick<Stream, 'writeBufferLength' | 'abort'>
  pushPrefixed(frame: Frame): void
}

interface Frame {
  readonly byteLength: number
}

/** A frame that waits somewhere. It does not hold the bytes: what was sent may go. */
interface Waiting {
  readonly bytes: number
  /** How many streams it waits on. */
  streams: number
}

/** How many frames are noted for one stream before it is looked which of them were sent. */
const MAX_NOTED_FRAMES = 1_024

export class WaitingFrames {
  readonly #mostBytes: number
  readonly #logger: Logger
  readonly #queues = new Map<GossipSender, Queue>()
  readonly #byFrame = new WeakMap<Frame, Waiting>()
  #bytes = 0

  /** @param mostBytes how many bytes may wait on all streams together, no less than the longest frame has */
  constructor(mostBytes: number, logger: Logger) {
    this.#mostBytes = mostBytes
    this.#logger = logger
  }

  /**
   * Watches a stream from now on; a stream that is watched already stays so.
   *
   * @param address the group that the peer's address counts under: `addressGroupOf`
   */
  watch(sender: GossipSender, address: string): void {
    if (this.#queues.has(sender)) return
    const queue = new Queue(sender, address)
    this.#queues.set(sender, queue)
    const push = sender.pushPrefixed.bind(sender)
    sender.pushPrefixed = (frame) => {
      push(frame)
      this.#note(queue, frame)
    }
  }

  /** Forgets a stream that is closed. */
  leave(sender: GossipSender): void {
    const queue = this.#queues.get(sender)
    if (queue === undefined) return
    this.#queues.delete(sender)
    this.#release(queue, 0)
  }

  /** How many bytes wait, at most: what went out since is noticed when it matters. */
  get bytes(): number {
    return this.#bytes
  }

  #note(queue: Queue, frame: Frame): void {
    const left = queue.left
    // a peer that reads costs nothing
    if (left === 0) return this.#release(queue, 0)
    const waiting = this.#byFrame.get(frame) ?? { bytes: frame.byteLength, streams: 0 }
    this.#byFrame.set(frame, waiting)
    if (waiting.streams++ === 0) this.#bytes += waiting.bytes
    queue.add(waiting)
    if (queue.length > MAX_NOTED_FRAMES) this.#release(queue, left)
    if (this.#bytes > this.#mostBytes) this.#enforce()
  }

  /** Lets go of the frames that were sent: all but the last `left` bytes. */
  #release(queue: Queue, left: number): void {
    for (const waiting of queue.takeSent(left)) {
      waiting.streams--
      if (waiting.streams === 0) this.#bytes -= waiting.bytes
    }
  }

  #enforce(): void {
    for (const queue of this.#queues.values()) this.#release(queue, queue.left)
    while (this.#bytes > this.#mostBytes) {
      const slowest = this.#slowest()
      if (slowest === undefined) return
      const { sender, left } = slowest
      this.leave(sender)
      this.#logger.debug('gossip stream reset: its peer reads too slowly', { bytes: left })
      sender.rawStream.abort(new Error('reads gossip too slowly'))
    }
  }

  /** The stream on which most waits, of the address for which most waits. */
  #slowest(): Queue | undefined {
    const most = greatestGroup(
      this.#queues.values(),
      ({ address }) => address,
      ({ left }) => left,
    )
    return most.filter(({ left }) => left > 0).toSorted((a, b) => b.left - a.left)[0]
  }
}

/** The frames that wait on one stream, oldest first. */
class Queue {
  readonly sender: GossipSender
  readonly address: string
  #frames: Waiting[] = []
  #bytes = 0

  constructor(sender: GossipSender, address: string) {
    this.sender = sender
    this.address = address
  }

  /** How many bytes the stream has still to send. */
  get left(): number {
    return this.sender.rawStream.writeBufferLength
  }

  get length(): number {
    return this.#frames.length
  }

  add(waiting: Waiting): void {
    this.#frames.push(waiting)
    this.#bytes += waiting.bytes
  }

  /** Takes the frames out that are not among the last `left` bytes, not even by a part. */
  takeSent(left: number): readonly Waiting[] {
    let count = 0
    for (const { bytes } of this.#frames) {
      if (this.#bytes - bytes < left) break
      this.#bytes -= bytes
      count++
    }
    return this.#frames.splice(0, count)
  }
}
