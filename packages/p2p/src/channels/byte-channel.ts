/** A channel of bounded messages over plain bytes, each with its length as an unsigned varint ahead. */
import { type Clock, MeshError } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import type { HeldBytes } from '../libp2p/held-bytes.ts'
import { encodePrefix } from '../length-prefix.ts'
import { SEND_STALL_MS } from './limits.ts'
import { CHANNEL_CLOSE_MS, READ_HIGH_WATER_BYTES } from '../limits.ts'
import type { ByteStream, Channel } from '../p2p-node.ts'
import { MessageBuffer } from '../message-buffer.ts'

export interface ByteChannelInit {
  /** The stream of bytes, which was opened with `halfClose`. */
  readonly stream: ByteStream
  readonly maxMessageBytes: number
  readonly clock: Clock
  /** A message over the bound came; the channel is reset. */
  readonly onTooLong: () => void
  /** Bounds what unfinished messages hold. */
  readonly held: HeldBytes
}

export function createByteChannel(init: ByteChannelInit): Channel {
  return new ByteChannel(init)
}

class ByteChannel implements Channel {
  readonly direct: boolean
  readonly transport: string | undefined
  readonly #init: ByteChannelInit
  readonly #buffer: MessageBuffer
  /** Is told how many bytes of an unfinished message wait for the rest. */
  readonly #onHeld: (bytes: number) => void
  #isOver = false
  #isClosed = false
  #isReading = false
  #error: Error | undefined
  /** All that the remote sent has come. */
  #isComplete = false
  #cancelClose = () => {}
  #wakeReader = () => {}
  /** Resolves when the stream takes more. */
  #drained: PromiseWithResolvers<void> | undefined

  constructor(init: ByteChannelInit) {
    const { stream } = init
    this.#init = init
    this.direct = stream.direct
    this.transport = stream.transport
    this.#buffer = new MessageBuffer(init.maxMessageBytes)
    this.#onHeld = init.held.track({
      peer: stream.peer,
      address: stream.address ?? stream.peer,
      abort: (error) => stream.abort(error),
    })
    stream.onBytes((bytes) => {
      this.#buffer.add(bytes)
      if (this.#buffer.byteLength >= READ_HIGH_WATER_BYTES) stream.pause()
      this.#wakeReader()
    })
    stream.onDrain(() => this.#wakeWriters())
    stream.onRemoteEnd(() => {
      this.#isComplete = true
      this.#wakeReader()
    })
    stream.onEnd((error) => {
      this.#isOver = true
      this.#isComplete ||= error === undefined
      this.#error = error
      this.#cancelClose()
      this.#wakeReader()
      this.#wakeWriters()
    })
  }

  get peer() {
    return this.#init.stream.peer
  }

  get address() {
    return this.#init.stream.address
  }

  async send(message: Uint8Array): Promise<void> {
    const { stream, maxMessageBytes, clock } = this.#init
    if (message.byteLength > maxMessageBytes) {
      throw new MeshError('p2p.message_too_long', `a message of ${message.byteLength} bytes is too long`, {
        details: { peer: this.peer, limit: maxMessageBytes },
      })
    }
    if (this.#isOver || this.#isClosed) throw this.#closed()
    if (stream.send(withLength(message))) return
    const cancel = clock.after(SEND_STALL_MS, () => stream.abort(new Error('the peer takes nothing')))
    this.#drained ??= Promise.withResolvers<void>()
    await this.#drained.promise
    cancel()
    if (this.#isOver) throw this.#closed()
  }

  async *messages(): AsyncGenerator<Uint8Array> {
    const { clock, stream } = this.#init
    const budget = loopBudget(clock)
    this.#isReading = true
    try {
      for (;;) {
        // one block of bytes may hold 65,536 messages
        const turn = budget.turn('members', { key: stream.address ?? stream.peer })
        if (turn !== undefined) await turn
        const message = this.#buffer.take()
        if (message === 'too long') throw this.#tooLong()
        this.#onHeld(message === undefined ? this.#buffer.byteLength : 0)
        if (message !== undefined) yield message
        else if (this.#isComplete) break
        else if (this.#isOver) throw this.#closed()
        else await this.#more()
      }
    } finally {
      this.#isReading = false
      this.#onHeld(0)
      this.#closeLater()
    }
    if (this.#buffer.byteLength > 0) throw this.#closed(new Error('the stream ended inside a message'))
  }

  async close(): Promise<void> {
    if (this.#isOver) return
    this.#isClosed = true
    this.#init.stream.end()
    this.#closeLater()
  }

  abort(reason: Error): void {
    this.#init.stream.abort(reason)
  }

  /** A closed channel that nobody reads does not wait for the other side for ever. */
  #closeLater(): void {
    const { stream, clock } = this.#init
    this.#cancelClose()
    if (this.#isOver || !this.#isClosed) return
    this.#cancelClose = clock.after(CHANNEL_CLOSE_MS, () => {
      if (!this.#isReading) stream.close()
    })
  }

  #wakeWriters(): void {
    this.#drained?.resolve()
    this.#drained = undefined
  }

  async #more(): Promise<void> {
    const more = Promise.withResolvers<void>()
    this.#wakeReader = more.resolve
    this.#init.stream.resume()
    await more.promise
  }

  #tooLong(): MeshError {
    this.#init.onTooLong()
    this.abort(new Error('a message over the bound'))
    return new MeshError('p2p.message_too_long', 'the peer sent a message over the bound', {
      details: { peer: this.peer, limit: this.#init.maxMessageBytes },
    })
  }

  #closed(cause: unknown = this.#error): MeshError {
    return new MeshError('p2p.channel_closed', 'the channel is closed', {
      cause,
      details: { peer: this.peer },
    })
  }
}

/** One buffer: a second piece would cost a second TLS record and system call. */
function withLength(message: Uint8Array): Uint8Array {
  const prefix = encodePrefix(message.byteLength)
  const bytes = new Uint8Array(prefix.byteLength + message.byteLength)
  bytes.set(prefix)
  bytes.set(message, prefix.byteLength)
  return bytes
}
