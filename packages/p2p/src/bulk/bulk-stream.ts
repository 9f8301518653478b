/** A stream on a bulk connection, with the interface and the ends of one over libp2p. */
import { addressGroup, type Clock, type PeerId } from '@mesh/core'
import { CHANNEL_CLOSE_MS } from '../limits.ts'
import type { ByteStream } from '../p2p-node.ts'

/** Counts what a stream carries. */
export interface StreamMeter {
  add(bytesIn: number, bytesOut: number): void
}

/** The connection of a stream, as the stream uses it. */
export interface BulkCarrier {
  readonly peer: PeerId
  readonly clock: Clock
  readonly remoteAddress: string
  /** False once a wait for the stream's `onDrain` is better. */
  write(bytes: Uint8Array): boolean
  end(): void
  readOn(): void
  /** Both directions have ended. */
  ended(): void
  close(): void
}

export interface BulkStreamInit {
  /** Each direction ends for itself. */
  readonly halfClose: boolean
  readonly meter: StreamMeter
}

export class BulkStream implements ByteStream {
  readonly peer: PeerId
  readonly address: string
  readonly direct = true
  readonly transport = 'tcp tls'
  readonly #connection: BulkCarrier
  readonly #halfClose: boolean
  readonly #meter: StreamMeter
  #onBytes: ((bytes: Uint8Array) => void) | undefined
  #onDrain = () => {}
  #onEnd = (_error: Error | undefined) => {}
  #onRemoteEnd = () => {}
  #isPaused = false
  #isAwaitingDrain = false
  /** This side's `end` frame was sent. */
  #hasEnded = false
  /** The other side's `end` frame came. */
  #hasRemoteEnded = false
  /** True once what still comes is thrown away. */
  #isClosing = false
  /** Set once: what `onEnd` tells. */
  #end: { readonly error: Error | undefined } | undefined
  #cancelClose = () => {}

  constructor(connection: BulkCarrier, { halfClose, meter }: BulkStreamInit) {
    this.#connection = connection
    this.#halfClose = halfClose
    this.#meter = meter
    this.peer = connection.peer
    this.address = addressGroup(connection.remoteAddress)
  }

  send(bytes: Uint8Array): boolean {
    if (this.#end !== undefined || this.#hasEnded) return false
    if (bytes.byteLength === 0) return true
    this.#meter.add(0, bytes.byteLength)
    const mayFollow = this.#connection.write(bytes)
    if (!mayFollow) this.#isAwaitingDrain = true
    return mayFollow
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  onBytes(listener: (bytes: Uint8Array) => void): void {
    this.#onBytes = listener
    queueMicrotask(() => this.#connection.readOn())
  }

  onEnd(listener: (error: Error | undefined) => void): void {
    this.#onEnd = listener
    if (this.#end !== undefined) queueMicrotask(() => listener(this.#end?.error))
  }

  onRemoteEnd(listener: () => void): void {
    this.#onRemoteEnd = listener
    if (this.#hasRemoteEnded && this.#halfClose) queueMicrotask(listener)
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    if (this.#end === undefined) this.#connection.readOn()
  }

  end(): void {
    if (!this.#halfClose) this.close()
    else this.#sendEnd()
  }

  close(): void {
    if (this.#isClosing || this.#end !== undefined) return
    this.#isClosing = true
    this.#cancelClose = this.#connection.clock.after(CHANNEL_CLOSE_MS, () => this.#connection.close())
    this.#sendEnd()
    if (this.#end === undefined) this.#connection.readOn()
  }

  abort(reason: Error): void {
    if (this.#end !== undefined) return
    this.#end = { error: reason }
    this.#cancelClose()
    this.#connection.close()
    queueMicrotask(() => this.#onEnd(reason))
  }

  // what the connection calls

  get isOpenForReading(): boolean {
    return !this.#hasRemoteEnded
  }

  mayTake(): boolean {
    return this.#isClosing || (this.#onBytes !== undefined && !this.#isPaused)
  }

  take(bytes: Uint8Array): void {
    this.#meter.add(bytes.byteLength, 0)
    if (!this.#isClosing) this.#onBytes?.(bytes)
  }

  drained(): void {
    if (!this.#isAwaitingDrain) return
    this.#isAwaitingDrain = false
    this.#onDrain()
  }

  remoteEnded(): void {
    this.#hasRemoteEnded = true
    if (this.#halfClose && !this.#isClosing) this.#onRemoteEnd()
    if (!this.#halfClose) this.#sendEnd()
    this.#finishIfDone()
  }

  /** The connection is over before both directions were. */
  cut(): void {
    if (this.#end !== undefined) return
    const isDone = this.#isClosing || (this.#hasRemoteEnded && this.#hasEnded)
    this.#finish(isDone ? undefined : new Error('the connection closed'))
  }

  #sendEnd(): void {
    if (this.#hasEnded || this.#end !== undefined) return
    this.#hasEnded = true
    this.#connection.end()
    this.#finishIfDone()
  }

  #finishIfDone(): void {
    if (!this.#hasEnded || !this.#hasRemoteEnded || this.#end !== undefined) return
    this.#finish(undefined)
    this.#connection.ended()
  }

  #finish(error: Error | undefined): void {
    this.#end = { error }
    this.#cancelClose()
    queueMicrotask(() => this.#onEnd(error))
  }
}
