/**
 * A stream of the muxer. What comes: 1 the window has room for it, 2 the answer of a lazy negotiation is taken off, 3 it is read
 * or waits, 4 the window opens as it is read. What goes out: 1 while the window and the connection have room, 2 in frames.
 *
 * After @libp2p/yamux 8.0.3, Apache-2.0 OR MIT; see NOTICE.
 */
import type { AbortOptions, Logger } from '@libp2p/interface'
import { AbstractStream, type SendResult } from '@libp2p/utils'
import { toError } from '@mesh/core'
import type { Uint8ArrayList } from 'uint8arraylist'
import type { FramePart } from './decode.ts'
import { FIRST_WINDOW_BYTES, FLAG, FRAME_TYPE, FrameError, type FrameHeader } from './frame.ts'
import { LazyNegotiation } from './lazy-negotiation.ts'
import { MAX_FRAME_DATA_BYTES, STREAM_WRITE_BUFFER_BYTES } from './limits.ts'
import { ReceiveWindow } from './receive-window.ts'
import { StreamBounds } from './stream-bounds.ts'

/** What a stream needs of its muxer. */
export interface FrameWriter {
  /** False while the connection takes no more. */
  readonly hasRoom: boolean
  /** Sends a frame. False: the connection takes no more, or has ended and took nothing. */
  sendFrame(header: FrameHeader, data?: Uint8ArrayList): boolean
  /** Has `continueSending` of the stream called when the connection has room again and it is its turn. */
  waitForRoom(stream: MuxedStream): void
  monotonic(): number
  /** The shortest round trip in ms; undefined while none is known. */
  readonly rttMs: number | undefined
}

interface MuxedStreamInit {
  readonly id: number
  readonly direction: 'inbound' | 'outbound'
  readonly writer: FrameWriter
  readonly log: Logger
}

export class MuxedStream extends AbstractStream {
  readonly streamId: number
  readonly bounds: StreamBounds
  readonly #writer: FrameWriter
  readonly #window: ReceiveWindow
  /** Bytes that the other side takes. */
  #sendWindow = FIRST_WINDOW_BYTES
  /** The flag of the next frame: this end opens the stream, or accepts it. */
  #openingFlag: number
  #lazy: LazyNegotiation | undefined

  constructor({ id, direction, writer, log }: MuxedStreamInit) {
    super({
      id: String(id),
      direction,
      log,
      maxMessageSize: MAX_FRAME_DATA_BYTES,
      maxWriteBufferLength: STREAM_WRITE_BUFFER_BYTES,
    })
    this.streamId = id
    this.#writer = writer
    this.#window = new ReceiveWindow(writer.monotonic())
    this.#openingFlag = direction === 'outbound' ? FLAG.syn : FLAG.ack
    this.bounds = new StreamBounds(this)
  }

  /** Tells the other side that the stream opens. */
  sendOpening(): void {
    if (this.#openingFlag === FLAG.syn) this.#sendUpdate(0)
  }

  /** Speaks a protocol without waiting for the other side to agree. */
  negotiateLazily(protocol: string): void {
    if (!LazyNegotiation.fits(protocol)) return
    this.protocol = protocol
    this.#lazy = new LazyNegotiation(protocol)
  }

  /** Handles a frame of this stream, or a part of one. @throws FrameError when it has more than the window's bytes */
  handle({ header, data }: FramePart): void {
    if (header.type === FRAME_TYPE.windowUpdate) this.#handleUpdate(header.length)
    else if (this.#window.take(data.byteLength)) this.onData(data)
    else throw new FrameError('a stream brings more than its window')
    if ((header.flags & FLAG.fin) !== 0) this.onRemoteCloseWrite()
    if ((header.flags & FLAG.rst) !== 0) this.onRemoteReset()
  }

  /** Goes on to send: there is room again. */
  continueSending(): void {
    this.writableNeedsDrain = false
    try {
      this.processSendQueue()
    } catch (error) {
      this.log.error('could not go on to send - %e', error)
    }
    if (!this.writableNeedsDrain) this.safeDispatchEvent('drain')
  }

  override onData(bytes: Uint8Array | Uint8ArrayList): void {
    let received: Uint8Array | Uint8ArrayList | undefined = bytes
    try {
      if (this.#lazy !== undefined) received = this.#lazy.receive(bytes)
    } catch (error) {
      return this.abort(toError(error))
    }
    if (received !== undefined) {
      const before = this.readBufferLength
      super.onData(this.bounds.received(received))
      this.bounds.count(this.readBufferLength > before ? received : undefined)
    }
    this.#openWindow()
  }

  override dispatchEvent(event: Event): boolean {
    if (event.type === 'message' && !this.bounds.mayDeliver((event as MessageEvent<Uint8Array>).data))
      return true
    const result = super.dispatchEvent(event)
    if (event.type === 'close') this.bounds.count()
    return result
  }

  override removeEventListener(...given: Parameters<AbstractStream['removeEventListener']>): void {
    super.removeEventListener(...given)
    if (given[0] === 'message') this.bounds.readerLeft()
  }

  override send(bytes: Uint8Array | Uint8ArrayList): boolean {
    this.bounds.sending()
    return super.send(this.#lazy?.send(bytes) ?? bytes)
  }

  sendData(bytes: Uint8ArrayList): SendResult {
    const length = Math.min(this.#sendWindow, bytes.byteLength)
    if (length > 0 && this.#writer.hasRoom) {
      this.#sendWindow -= length
      const data = length === bytes.byteLength ? bytes : bytes.sublist(0, length)
      const header = { type: FRAME_TYPE.data, flags: this.#takeFlags(), streamId: this.streamId, length }
      const canSendMore = this.#writer.sendFrame(header, data)
      if (!canSendMore) this.#writer.waitForRoom(this)
      return { sentBytes: length, canSendMore: canSendMore && length === bytes.byteLength }
    }
    // an update of the window goes on otherwise
    if (length > 0) this.#writer.waitForRoom(this)
    return { sentBytes: 0, canSendMore: false }
  }

  sendReset(): void {
    this.#sendUpdate(0, FLAG.rst)
  }

  async sendCloseWrite(): Promise<void> {
    this.#sendUpdate(0, this.#takeFlags() | FLAG.fin)
  }

  async sendCloseRead(options?: AbortOptions): Promise<void> {
    options?.signal?.throwIfAborted()
  }

  /** The window stays shut while bytes wait. */
  sendPause(): void {}

  sendResume(): void {
    this.#window.restart(this.#writer.monotonic())
    this.#openWindow()
  }

  protected override dispatchReadBuffer(): void {
    super.dispatchReadBuffer()
    this.bounds.count()
    this.#openWindow()
  }

  #handleUpdate(bytes: number): void {
    this.#sendWindow += bytes
    if (!this.writableNeedsDrain || bytes === 0) return
    if (this.#writer.hasRoom) this.continueSending()
    else this.#writer.waitForRoom(this)
  }

  /** Tells the other side how much more it may send, when that is worth a frame. */
  #openWindow(): void {
    if (this.status !== 'open' && this.status !== 'closing') return
    if (this.readStatus === 'paused' || this.remoteWriteStatus === 'closed') return
    const { rttMs } = this.#writer
    const bytes = this.#window.open(this.readBufferLength, this.#writer.monotonic(), rttMs)
    if (bytes > 0 || this.#openingFlag === FLAG.ack) this.#sendUpdate(bytes)
  }

  #sendUpdate(length: number, flags = this.#takeFlags()): void {
    this.#writer.sendFrame({ type: FRAME_TYPE.windowUpdate, flags, streamId: this.streamId, length })
  }

  #takeFlags(): number {
    const flags = this.#openingFlag
    this.#openingFlag = 0
    return flags
  }
}
