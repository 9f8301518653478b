/**
 * A libp2p stream as plain bytes, without a promise for any chunk.
 *
 * 1. Bytes go on as they were decrypted. Without a listener, or while it pauses, the stream is paused: its window fills and the
 *    other side stops.
 * 2. Sent bytes go to libp2p at once. `send` says when to stop, `onDrain` when little is left.
 * 3. It ends once: with the other side's close when all was read, or with the error that broke it.
 */
import type { Connection, Stream, StreamCloseEvent } from '@libp2p/interface'
import { type Clock, delay, type PeerId, toError } from '@mesh/core'
import type { Scope } from '@mesh/core/limits'
import { addressGroupOf } from '../addresses/address-group.ts'
import { CHANNEL_CLOSE_MS } from '../limits.ts'
import type { ByteStream } from '../p2p-node.ts'
import { ByteReader } from './byte-reader.ts'
import type { Unsent } from '../unsent.ts'
import { ByteWriter } from './byte-writer.ts'
import { ACCEPTED_CLOSE_DELAY_MS } from './limits.ts'
import { isLive } from './member-streams.ts'

interface ByteStreamInit {
  readonly stream: Stream
  readonly connection: Connection
  readonly peer: PeerId
  /** Bounds what waits on streams that nobody reads. */
  readonly unread: Scope
  /** Counts what waits to go out on all byte streams. */
  readonly unsent: Unsent
  readonly clock: Clock
  /** True when each direction ends for itself; by default the end of one ends the other one, too. */
  readonly halfClose?: boolean | undefined
}

/** Wraps an open stream, which ends with the byte stream in every case. */
export function createByteStream(init: ByteStreamInit): ByteStream {
  return new StreamBytes(init)
}

class StreamBytes implements ByteStream {
  readonly peer: PeerId
  readonly direct: boolean
  readonly address: string
  readonly #stream: Stream
  readonly #clock: Clock
  readonly #halfClose: boolean
  readonly #reader: ByteReader
  readonly #writer: ByteWriter
  /** Set once; what `onEnd` tells. */
  #end: { readonly error: Error | undefined } | undefined
  #onEnd = (_error: Error | undefined): void => {}
  #onRemoteEnd = (): void => {}
  /** Asked for by this side, or follows the other side's close. */
  #isClosing = false
  /** This side's direction alone was ended. */
  #isEnded = false
  /** All that the other side sent before it ended its direction was handed on. */
  #isRemoteDone = false
  /** The other side said that no more comes: without it a stream that is over was cut. */
  #isRemoteClosed: boolean

  constructor(init: ByteStreamInit) {
    const { stream, connection, peer, unread, unsent, clock, halfClose = false } = init
    this.peer = peer
    this.direct = connection.direct
    this.address = addressGroupOf(connection)
    this.#stream = stream
    this.#clock = clock
    this.#halfClose = halfClose
    this.#reader = new ByteReader(stream, { peer, address: this.address, unread })
    this.#writer = new ByteWriter(stream, unsent)
    this.#isRemoteClosed = stream.remoteWriteStatus === 'closed' && isLive(stream)
    this.#reader.onEmpty = () => this.#onAllRead()
    this.#reader.onSurplus = (reason) => {
      this.abort(reason)
      this.#finish(reason)
    }
    stream.addEventListener('remoteCloseWrite', this.#onRemoteClose, { once: true })
    stream.addEventListener('close', this.#onClose, { once: true })
    if (!isLive(stream)) this.#finish(new Error(`the stream was ${stream.status}`))
    else this.#onAllRead()
  }

  send(bytes: Uint8Array): boolean {
    if (this.#end !== undefined || this.#isClosing || this.#isEnded) return false
    return this.#writer.send(bytes)
  }

  onDrain(listener: () => void): void {
    this.#writer.onDrain(listener)
  }

  onBytes(listener: (bytes: Uint8Array) => void): void {
    this.#reader.onBytes(listener)
    queueMicrotask(() => this.#writer.nudge())
  }

  onEnd(listener: (error: Error | undefined) => void): void {
    this.#onEnd = listener
    if (this.#end !== undefined) queueMicrotask(() => listener(this.#end?.error))
  }

  end(): void {
    if (this.#halfClose) this.#endWriting()
    else this.close()
  }

  onRemoteEnd(listener: () => void): void {
    this.#onRemoteEnd = listener
    if (this.#isRemoteDone && this.#halfClose) queueMicrotask(listener)
  }

  pause(): void {
    this.#reader.setPaused(true)
  }

  resume(): void {
    this.#reader.setPaused(false)
  }

  close(): void {
    const stream = this.#stream
    if (this.#isClosing || !isLive(stream)) return
    this.#isClosing = true
    this.#reader.stop()
    this.#writer.stop()
    const cancel = this.#clock.after(CHANNEL_CLOSE_MS, () =>
      stream.abort(new Error('the other side did not close')),
    )
    stream.addEventListener('close', cancel, { once: true })
    void this.#closeWriting(false)
    // what still comes is thrown away, so that the other side is not held up
    stream.closeRead().catch((error: unknown) => stream.abort(toError(error)))
  }

  abort(reason: Error): void {
    if (isLive(this.#stream)) this.#stream.abort(reason)
  }

  #endWriting(): void {
    if (this.#isEnded || this.#isClosing || !isLive(this.#stream)) return
    this.#isEnded = true
    this.#writer.stop()
    // a slow reader on the other side takes the time that it takes
    void this.#closeWriting(true)
  }

  /**
   * Sends what waits, then tells the other side that no more comes. Never rejects: a stream that broke is closed too.
   *
   * @param isPatient the other side may take all the time that it likes; else the stream is reset when it takes nothing
   */
  async #closeWriting(isPatient: boolean): Promise<void> {
    const stream = this.#stream
    const isNegotiated =
      this.#reader.heard || stream.readBufferLength > 0 || stream.remoteWriteStatus !== 'writable'
    // libp2p fails to open a stream whose other end is closed before the answer to the protocol's name was read
    if (!isNegotiated && stream.direction === 'inbound') await delay(this.#clock, ACCEPTED_CLOSE_DELAY_MS)
    const abort = () => stream.abort(new Error('the peer takes nothing'))
    const cancel = isPatient ? () => {} : this.#clock.after(CHANNEL_CLOSE_MS, abort)
    await stream.close().catch(() => {})
    cancel()
  }

  #finish(error: Error | undefined): void {
    if (this.#end !== undefined) return
    this.#end = { error }
    this.#reader.stop()
    this.#writer.stop()
    this.#onEnd(error)
  }

  #onAllRead(): void {
    if (!this.#isRemoteClosed || this.#isClosing || this.#isRemoteDone || !this.#reader.isEmpty()) return
    this.#isRemoteDone = true
    if (!this.#halfClose) {
      this.#finish(undefined)
      return this.close()
    }
    this.#onRemoteEnd()
    if (!isLive(this.#stream)) {
      this.#finish(this.#isEnded ? undefined : new Error('the connection closed'))
    }
  }

  readonly #onRemoteClose = (): void => {
    this.#isRemoteClosed = true
    this.#onAllRead()
  }

  readonly #onClose = ({ error }: StreamCloseEvent): void => {
    const isUnsent = this.#halfClose && (!this.#isEnded || this.#stream.writeBufferLength > 0)
    const isCut = !this.#isRemoteClosed || isUnsent
    if (error === undefined && isCut && !this.#isClosing) this.#finish(new Error('the connection closed'))
    // what came before a close without fault may still be read
    else if (error !== undefined || this.#isClosing || this.#reader.isEmpty()) this.#finish(error)
  }
}
