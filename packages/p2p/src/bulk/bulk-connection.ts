/**
 * One TLS connection with a peer, used for one stream after another. The side that asked for it, the opener, begins
 * each stream with an `open` frame; when both directions of a stream have ended, the next one may begin. What breaks a
 * stream breaks the connection: a reset is the end of the connection without the stream's `end`.
 */
import type { TLSSocket } from 'node:tls'
import { addressGroup, type Clock, type PeerId } from '@mesh/core'
import type { Scope } from '@mesh/core/limits'
import { MUCH_UNSENT_BYTES } from '../limits.ts'
import { WaitingBytes } from '../waiting-bytes.ts'
import { type Unsent, UnsentPart } from '../unsent.ts'
import { BulkStream, type StreamMeter } from './bulk-stream.ts'
import { encodeHeader, encodeShortFrame, FRAME, FrameReader, type FrameType } from './frames.ts'
import {
  ACCEPTED_IDLE_MS,
  IDLE_PING_MS,
  KEEP_ALIVE_MS,
  MAX_DATA_FRAME_BYTES,
  SEND_BUFFER_BYTES,
  SMALL_SEND_BUFFER_BYTES,
} from './limits.ts'

/** Payloads up to this length are copied behind their header, which is cheaper than writing two buffers. */
const SHORT_BYTES = 4_096

export interface BulkConnectionInit {
  readonly socket: TLSSocket
  readonly peer: PeerId
  readonly isOpener: boolean
  readonly clock: Clock
  /** Bounds what waits on streams that nobody reads. */
  readonly unread: Scope
  /** Counts what waits to go out on all byte streams. */
  readonly unsent: Unsent
  /** The other side, an opener, begins a stream. False: nobody serves the protocol, or no more of it is served. */
  readonly onOpen: (protocol: string, connection: BulkConnection) => boolean
  /** A stream ended in both directions; the connection may be used again. */
  readonly onIdle: (connection: BulkConnection) => void
  /** Once, in every case. */
  readonly onClosed: (connection: BulkConnection) => void
}

export interface OpenInit {
  readonly halfClose: boolean
  readonly meter: StreamMeter
}

export class BulkConnection {
  readonly peer: PeerId
  readonly clock: Clock
  readonly #init: BulkConnectionInit
  readonly #socket: TLSSocket
  readonly #reader: FrameReader
  #stream: BulkStream | undefined
  /** The bytes that came and may not be handed on yet, in order. */
  #held: Uint8Array[] = []
  readonly #waiting: WaitingBytes
  readonly #unsent: UnsentPart
  #isDraining = false
  #isClosed = false
  /** When something came last, and when the stream began, in ms of monotonic time. */
  #heardAt: number
  #begunAt: number
  #cancelIdle = () => {}

  constructor(init: BulkConnectionInit) {
    const { socket, peer, clock } = init
    this.#init = init
    this.#socket = socket
    this.peer = peer
    this.clock = clock
    this.#heardAt = clock.monotonic()
    this.#begunAt = this.#heardAt
    this.#unsent = new UnsentPart(init.unsent)
    this.#waiting = new WaitingBytes({
      peer,
      address: addressGroup(socket.remoteAddress ?? ''),
      scope: init.unread,
      end: () => this.close(),
    })
    this.#reader = new FrameReader({
      mayRead: () => this.#stream?.mayTake() ?? true,
      onData: (bytes) => this.#onData(bytes),
      onControl: (type, payload) => this.#onControl(type, payload),
    })
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.on('data', (bytes: Buffer) => {
      this.#heardAt = clock.monotonic()
      this.#held.push(bytes)
      this.readOn()
    })
    socket.on('drain', () => {
      this.#unsent.set(socket.writableLength)
      this.#stream?.drained()
    })
    socket.on('error', () => {})
    // the other side ends its direction only with the whole connection
    socket.on('end', () => this.close())
    socket.on('close', () => this.#closed())
    this.#watchIdle()
  }

  get isLive(): boolean {
    return !this.#isClosed && !this.#socket.destroyed && this.#socket.writable
  }

  /** How long nothing has come, in ms. */
  get silentMs(): number {
    return this.clock.monotonic() - this.#heardAt
  }

  /** True while it is idle, and while nothing has come since its stream began. */
  get isUnheard(): boolean {
    return this.#stream === undefined || this.#heardAt <= this.#begunAt
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress ?? ''
  }

  /** Begins a stream to the other side; only while the connection is idle. */
  open(protocol: string, init: OpenInit): BulkStream {
    // what is sent first goes along
    this.#socket.cork()
    process.nextTick(() => this.#socket.uncork())
    this.#socket.write(encodeShortFrame(FRAME.open, Buffer.from(protocol)))
    return this.begin(init)
  }

  /** The stream that an `open` frame announced. */
  begin({ halfClose, meter }: OpenInit): BulkStream {
    this.#cancelIdle()
    this.#begunAt = this.clock.monotonic()
    const stream = new BulkStream(this, { halfClose, meter })
    this.#stream = stream
    return stream
  }

  /** Takes the bytes in every case. False: no more until the stream is told that it drained. */
  write(bytes: Uint8Array): boolean {
    const socket = this.#socket
    if (bytes.byteLength <= SHORT_BYTES) {
      socket.write(encodeShortFrame(FRAME.data, bytes))
      return this.#mayFollow()
    }
    if (bytes.byteLength > MAX_DATA_FRAME_BYTES) {
      this.write(bytes.subarray(0, MAX_DATA_FRAME_BYTES))
      return this.write(bytes.subarray(MAX_DATA_FRAME_BYTES))
    }
    socket.cork()
    socket.write(encodeHeader(FRAME.data, bytes.byteLength))
    socket.write(bytes)
    socket.uncork()
    return this.#mayFollow()
  }

  #mayFollow(): boolean {
    const { writableLength } = this.#socket
    this.#unsent.set(writableLength)
    return (
      writableLength < (this.#unsent.others > MUCH_UNSENT_BYTES ? SMALL_SEND_BUFFER_BYTES : SEND_BUFFER_BYTES)
    )
  }

  end(): void {
    this.#socket.write(encodeHeader(FRAME.end, 0))
  }

  /** Hands on what is held while the stream takes it, and lets more come when nothing is left. */
  readOn(): void {
    if (this.#isDraining) return
    this.#isDraining = true
    while (this.#held.length > 0 && !this.#isClosed) {
      const rest = this.#reader.read(this.#held[0] as Uint8Array)
      if (rest === undefined) {
        this.close()
        break
      }
      if (rest.byteLength > 0) {
        this.#held[0] = rest
        break
      }
      this.#held.shift()
    }
    this.#isDraining = false
    // a stream that takes nothing for a moment, as between a request and its answer, does not stop the socket
    if (this.#held.length > 0) {
      this.#socket.pause()
      if (!this.#isClosed) this.#waiting.set(byteLengthOf(this.#held) + this.#socket.readableLength)
      return
    }
    this.#waiting.set(0)
    if (this.#socket.isPaused() && this.#stream?.mayTake() !== false) this.#socket.resume()
  }

  /** Called by the stream when both directions have ended. */
  ended(): void {
    this.#stream = undefined
    if (!this.isLive) return
    this.#watchIdle()
    if (this.#socket.isPaused()) this.#socket.resume()
    this.#init.onIdle(this)
  }

  close(): void {
    this.#socket.destroy()
    this.#closed()
  }

  #onData(bytes: Uint8Array): void {
    if (this.#stream?.isOpenForReading !== true) return this.close()
    this.#stream.take(bytes)
  }

  #onControl(type: FrameType, payload: Uint8Array): void {
    const { isOpener, onOpen } = this.#init
    const isIdle = this.#stream === undefined
    if (type === FRAME.end && this.#stream?.isOpenForReading === true) this.#stream.remoteEnded()
    else if (type === FRAME.open && isIdle && !isOpener) {
      if (!onOpen(new TextDecoder().decode(payload), this)) this.close()
    } else if (type === FRAME.ping && isIdle && !isOpener && this.#socket.writableLength === 0) {
      this.#socket.write(encodeHeader(FRAME.pong, 0))
      this.#watchIdle()
    } else if (type === FRAME.pong && isOpener) this.#watchIdle()
    else this.close()
  }

  /** The opener asks whether the other side is still there; the other side waits for its asking. */
  #watchIdle(): void {
    const { isOpener, clock } = this.#init
    this.#cancelIdle()
    if (this.#stream !== undefined || this.#isClosed) return
    if (!isOpener) {
      this.#cancelIdle = clock.after(ACCEPTED_IDLE_MS, () => this.close())
      return
    }
    this.#cancelIdle = clock.after(IDLE_PING_MS, () => {
      this.#socket.write(encodeHeader(FRAME.ping, 0))
      this.#cancelIdle = clock.after(IDLE_PING_MS, () => this.close())
    })
  }

  #closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelIdle()
    this.#held = []
    this.#unsent.set(0)
    this.#waiting.set(0)
    const stream = this.#stream
    this.#stream = undefined
    stream?.cut()
    this.#init.onClosed(this)
  }
}

function byteLengthOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((bytes, { byteLength }) => bytes + byteLength, 0)
}
