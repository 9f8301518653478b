/**
 * Carries the streams of a connection. A block of bytes: 1 is cut into frames, 2 which are handled while this turn of the event
 * loop has time; the rest waits, and the connection is not read meanwhile. Frames that go out wait for room in turn.
 *
 * After @libp2p/yamux 8.0.3, Apache-2.0 OR MIT; see NOTICE.
 */
import {
  type CreateStreamOptions,
  type MessageStream,
  MuxerClosedError,
  type StreamMuxer,
  type StreamMuxerEvents,
  type StreamMuxerStatus,
  TooManyOutboundProtocolStreamsError,
} from '@libp2p/interface'
import { type Clock, toError } from '@mesh/core'
import {
  createTokenBucket,
  type Lane,
  type LoopBudget,
  loopBudget,
  type TokenBucket,
} from '@mesh/core/limits'
import { TypedEventEmitter } from 'main-event'
import { Uint8ArrayList } from 'uint8arraylist'
import { Decoder, type FramePart } from './decode.ts'
import {
  encodeHeader,
  FLAG,
  FRAME_TYPE,
  FrameError,
  type FrameHeader,
  GO_AWAY,
  type GoAway,
} from './frame.ts'
import {
  GO_AWAY_CLOSE_MS,
  MAX_BYTES_AFTER_END,
  MAX_EARLY_STREAMS,
  MAX_REFUSED_STREAMS,
  MAX_STREAMS_PER_END,
  UNPROVEN_STREAM_RATE,
} from './limits.ts'
import { Pings } from './pings.ts'
import { type FrameWriter, MuxedStream } from './stream.ts'
import type { StreamOwner } from './stream-bounds.ts'

export const YAMUX_PROTOCOL = '/yamux/1.0.0'

type StreamOptions = CreateStreamOptions & { readonly negotiateFully?: boolean }

export class Muxer
  extends TypedEventEmitter<StreamMuxerEvents<MuxedStream>>
  implements StreamMuxer<MuxedStream>, FrameWriter
{
  readonly protocol = YAMUX_PROTOCOL
  readonly streams: MuxedStream[] = []
  status: StreamMuxerStatus = 'open'
  /** Number of blocks of bytes that came so far. */
  received = 0
  readonly #connection: MessageStream
  readonly #clock: Clock
  readonly #budget: LoopBudget
  readonly #decoder = new Decoder()
  readonly #pings: Pings
  readonly #byId = new Map<number, MuxedStream>()
  /** Streams that came before anybody listened. */
  readonly #early: MuxedStream[] = []
  /** Streams that wait to send, the first to go on first. */
  readonly #waiting = new Set<MuxedStream>()
  /** Streams that may still be open, by the end that opened them. */
  readonly #open = { inbound: 0, outbound: 0 }
  readonly #rate: TokenBucket
  #refused = 0
  #owner: StreamOwner | undefined
  #nextId: number
  /** Frames wait for time. */
  #isWaiting = false
  #isPaused = false
  #isResuming = false
  /** True once the connection has closed; what came before is handled first. */
  #isTransportClosed = false
  #bytesAfterEnd = 0

  constructor(connection: MessageStream, clock: Clock) {
    super()
    this.#connection = connection
    this.#clock = clock
    this.#budget = loopBudget(clock)
    this.#rate = createTokenBucket(UNPROVEN_STREAM_RATE, clock)
    this.#nextId = connection.direction === 'outbound' ? 1 : 2
    this.#pings = new Pings(clock, (id, flags) =>
      this.sendFrame({ type: FRAME_TYPE.ping, flags, streamId: 0, length: id }),
    )
    connection.addEventListener('message', ({ data }) => this.#receive(data))
    connection.addEventListener('drain', () => this.#continueSending())
    connection.addEventListener('close', () => {
      this.#isTransportClosed = true
      if (!this.#isWaiting && !this.#isResuming) this.#end()
    })
    this.#pings.start()
  }

  get hasRoom(): boolean {
    return !this.#connection.writableNeedsDrain
  }

  get rttMs(): number | undefined {
    return this.#pings.rttMs
  }

  monotonic(): number {
    return this.#clock.monotonic()
  }

  /** Says whose connection it is, which bounds its streams. */
  own(owner: StreamOwner): void {
    this.#owner = owner
    for (const { bounds } of this.streams) bounds.own(owner)
  }

  async createStream(options: StreamOptions = {}): Promise<MuxedStream> {
    if (this.status !== 'open') throw new MuxerClosedError()
    if (this.#open.outbound >= MAX_STREAMS_PER_END)
      throw new TooManyOutboundProtocolStreamsError('too many streams of this end are open')
    const stream = this.#addStream(this.#nextId, 'outbound')
    this.#nextId += 2
    const { protocol, negotiateFully } = options
    if (negotiateFully === false && protocol !== undefined) stream.negotiateLazily(protocol)
    stream.sendOpening()
    this.#pings.measure()
    return stream
  }

  async close(options?: Parameters<StreamMuxer['close']>[0]): Promise<void> {
    if (this.status !== 'open') return
    this.status = 'closing'
    const closed = Promise.all(this.streams.map((stream) => stream.close(options)))
    await orAborted(closed, options?.signal)
    this.#goAway(GO_AWAY.normal)
  }

  abort(error: Error): void {
    if (this.status === 'closed') return
    for (const stream of this.#byId.values()) stream.abort(error)
    this.#goAway(error instanceof FrameError ? GO_AWAY.protocolError : GO_AWAY.internalError)
  }

  override addEventListener(...given: Parameters<TypedEventEmitter<StreamMuxerEvents>['addEventListener']>) {
    super.addEventListener(
      ...(given as Parameters<TypedEventEmitter<StreamMuxerEvents<MuxedStream>>['addEventListener']>),
    )
    // the listener may use what its owner has not set yet
    if (given[0] === 'stream')
      queueMicrotask(() => {
        for (const detail of this.#early.splice(0)) this.safeDispatchEvent('stream', { detail })
      })
  }

  sendFrame(header: FrameHeader, data?: Uint8ArrayList): boolean {
    // an ending connection takes nothing more, and reading ends before its close does
    if (this.status === 'closed' || this.#connection.status !== 'open') return false
    const bytes = encodeHeader(header)
    try {
      return this.#connection.send(data === undefined ? bytes : new Uint8ArrayList(bytes, data))
    } catch (error) {
      this.#connection.log.error('the connection takes no frame - %e', error)
      return false
    }
  }

  waitForRoom(stream: MuxedStream): void {
    this.#waiting.add(stream)
  }

  /** Lets streams send one after the other until the connection is full. */
  #continueSending(): void {
    for (const stream of this.#waiting) {
      if (!this.hasRoom) return
      this.#waiting.delete(stream)
      stream.continueSending()
    }
  }

  #receive(bytes: Uint8Array | Uint8ArrayList): void {
    this.received++
    this.#decoder.add(bytes instanceof Uint8Array ? [bytes] : bytes)
    if (!this.#isWaiting && !this.#isResuming) this.#handleParts()
  }

  #handleParts(): void {
    try {
      const lane: Lane = this.#owner?.isTrusted() === true ? 'members' : 'strangers'
      while (this.status !== 'closed') {
        if (!this.#budget.isTimeLeft(lane)) return this.#waitForTime(lane)
        const part = this.#decoder.next()
        if (part === undefined) return
        this.#handle(part)
      }
    } catch (error) {
      this.abort(toError(error))
      this.#connection.abort(toError(error))
    }
    this.#bytesAfterEnd += this.#decoder.drop()
    if (this.#bytesAfterEnd > MAX_BYTES_AFTER_END)
      this.#connection.abort(new Error('bytes came after the end of the muxer'))
  }

  #waitForTime(lane: Lane): void {
    this.#isWaiting = true
    this.#budget.later(lane, () => this.#goOn(), this.#owner?.address)
    if (this.#isPaused) return
    try {
      this.#connection.pause()
      this.#isPaused = true
    } catch {
      // it has ended, and brings nothing more
    }
  }

  #goOn(): void {
    this.#isWaiting = false
    this.#handleParts()
    if (!this.#isWaiting) this.#resume()
    if (!this.#isWaiting && this.#isTransportClosed) this.#end()
  }

  /** What a connection hands over while it resumes is handled after that: to pause within has no effect. */
  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#isResuming = true
    try {
      this.#connection.resume()
    } catch {
      // it has ended, and brings nothing more
    }
    this.#isResuming = false
    this.#handleParts()
  }

  #handle(part: FramePart): void {
    const { type, flags, streamId, length } = part.header
    if (streamId === 0) {
      if (type === FRAME_TYPE.ping) return this.#pings.handle(flags, length)
      if (type === FRAME_TYPE.goAway) return this.#handleGoAway(length)
      throw new FrameError('a frame has an unknown type')
    }
    if (type !== FRAME_TYPE.data && type !== FRAME_TYPE.windowUpdate)
      throw new FrameError('a frame has an unknown type')
    if ((flags & FLAG.syn) !== 0) this.#accept(streamId)
    this.#byId.get(streamId)?.handle(part)
  }

  #accept(id: number): void {
    if (id % 2 === this.#nextId % 2) throw new FrameError('both ends open the same streams')
    if (this.#byId.has(id)) return
    if (this.status !== 'open' || this.#open.inbound >= MAX_STREAMS_PER_END || !this.#isInRate())
      return void this.sendFrame({ type: FRAME_TYPE.windowUpdate, flags: FLAG.rst, streamId: id, length: 0 })
    const stream = this.#addStream(id, 'inbound')
    this.#pings.measure()
    if (this.listenerCount('stream') > 0) this.safeDispatchEvent('stream', { detail: stream })
    else if (this.#early.push(stream) > MAX_EARLY_STREAMS) throw new Error('too many early streams')
  }

  /** Members may open as many as they like. */
  #isInRate(): boolean {
    if (this.#owner === undefined || this.#rate.take() || this.#owner.isTrusted()) return true
    if (++this.#refused > MAX_REFUSED_STREAMS) throw new Error('too many streams')
    return false
  }

  #addStream(id: number, direction: 'inbound' | 'outbound'): MuxedStream {
    const log = this.#connection.log.newScope(`${direction}:${id}`)
    const stream = new MuxedStream({ id, direction, writer: this, log })
    this.#byId.set(id, stream)
    this.streams.push(stream)
    this.#open[direction]++
    if (this.#owner !== undefined) stream.bounds.own(this.#owner)
    stream.addEventListener('close', () => this.#removeStream(stream), { once: true })
    return stream
  }

  #removeStream(stream: MuxedStream): void {
    this.#byId.delete(stream.streamId)
    this.#waiting.delete(stream)
    this.streams.splice(this.streams.indexOf(stream), 1)
    this.#open[stream.direction]--
  }

  /** The other side takes nothing more. The connection closes once it has what this end still had to say. */
  #handleGoAway(reason: number): void {
    if (reason === GO_AWAY.normal) this.#end()
    else this.abort(new Error('the other side ended its muxer'))
    const limit = new AbortController()
    const cancel = this.#clock.after(GO_AWAY_CLOSE_MS, () =>
      limit.abort(new Error('the other side has gone away')),
    )
    this.#connection
      .close({ signal: limit.signal })
      .catch((error: unknown) => this.#connection.abort(toError(error)))
      .finally(cancel)
  }

  #goAway(reason: GoAway): void {
    this.#pings.stop()
    this.sendFrame({ type: FRAME_TYPE.goAway, flags: 0, streamId: 0, length: reason })
    this.status = 'closed'
  }

  /** Nothing more comes or goes. What has come may still be read. */
  #end(): void {
    this.status = 'closed'
    this.#pings.stop()
    for (const stream of this.#byId.values()) stream.onTransportClosed()
  }
}

async function orAborted(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return void (await work)
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = () => reject(signal.reason as Error)
  signal.addEventListener('abort', leave)
  try {
    await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
