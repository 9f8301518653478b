/**
 * Packets to one legacy member, as it reads them (docs/WIRE.md 5.1): each on a stream of its own, in one chunk, never
 * over a relay. What waits beyond the streams in flight stays in the engine.
 */
import { type PeerId, toError } from '@mesh/core'
import { type Engine, framesOf } from '@mesh/engine'
import type { ByteStream, ByteStreams } from '../ports.ts'
import { tunnelError, within } from '../streams/tunnel-error.ts'
import { STREAM_OPEN_MS } from '../streams/limits.ts'
import { LEGACY_PROTOCOL, STREAMS_OUT_PER_PEER, STREAM_MS } from './limits.ts'
import { StreamRetry } from '../streams/stream-retry.ts'
import type { VpnComponents } from '../vpn.ts'

interface PacketSenderComponents extends Pick<VpnComponents, 'clock' | 'random'> {
  readonly engine: Pick<Engine, 'take'>
  readonly streams: Pick<ByteStreams, 'open'>
  /** True while there is a direct connection to the peer. */
  readonly isDirect: () => boolean
  /** Connects directly, and rejects unless the peer is a legacy member still. */
  readonly prepare: (signal: AbortSignal) => Promise<void>
  /** Takes one of the streams to all peers; false when there is none left, and `readable` is called once there is. */
  readonly acquire: () => boolean
  readonly release: () => void
}

export class PacketSender {
  /** Number of streams that are open. */
  open = 0
  lastError: Error | undefined
  readonly #peer: PeerId
  readonly #components: PacketSenderComponents
  readonly #stopping = new AbortController()
  readonly #retry: StreamRetry
  /** The rest of the batch that was taken last. */
  #packets: Iterator<Uint8Array> | undefined
  #isReadable = false
  #preparing = false
  /**
   * How many streams may be open: one until a packet went through, so that a peer that is away is not asked 64 times.
   */
  #allowed = 1

  constructor(peer: PeerId, components: PacketSenderComponents) {
    this.#peer = peer
    this.#components = components
    this.#retry = new StreamRetry(components, () => this.#drive())
  }

  /** Tells that the engine has packets for the peer, or that a stream can be acquired again. */
  readable(): void {
    this.#isReadable = true
    this.#drive()
  }

  /** Tells that a connection came, or changed. */
  reach(): void {
    this.#retry.hasten()
  }

  stop(): void {
    this.#stopping.abort(tunnelError('vpn.stopped', 'the peer gets no unsealed packets any more'))
    this.#retry.stop()
    this.#packets = undefined
  }

  #drive(): void {
    if (this.#stopping.signal.aborted || this.#preparing || !this.#isReadable) return
    const { isDirect, acquire, release } = this.#components
    if (this.#retry.isWaiting()) return
    if (!isDirect()) return void this.#connect()
    while (this.open < this.#allowed && acquire()) {
      const packet = this.#nextPacket()
      if (packet === undefined) {
        this.#isReadable = false
        release()
        return
      }
      void this.#send(packet)
    }
  }

  async #connect(): Promise<void> {
    const { clock, prepare, isDirect } = this.#components
    this.#preparing = true
    try {
      await within({ clock, ms: STREAM_OPEN_MS, signal: this.#stopping.signal }, prepare)
      if (!isDirect()) throw tunnelError('vpn.unreachable', 'there is no direct connection')
    } catch (error) {
      this.#failed(error)
    }
    this.#preparing = false
    this.#drive()
  }

  #nextPacket(): Uint8Array | undefined {
    for (;;) {
      const next = this.#packets?.next()
      if (next?.done === false) return next.value
      const batch = this.#components.engine.take(this.#peer)
      if (batch === undefined) {
        this.#packets = undefined
        return undefined
      }
      this.#packets = framesOf(batch)
    }
  }

  async #send(packet: Uint8Array): Promise<void> {
    const { clock, streams } = this.#components
    this.open++
    const options = { from: 'heard', relayed: false } as const
    let stream: ByteStream
    try {
      stream = await within({ clock, ms: STREAM_MS, signal: this.#stopping.signal }, (signal) =>
        streams.open(this.#peer, LEGACY_PROTOCOL, { ...options, signal }),
      )
    } catch (error) {
      this.#allowed = 1
      this.#failed(error)
      this.#finished()
      return
    }
    this.#sendOn(stream, packet)
  }

  #sendOn(stream: ByteStream, packet: Uint8Array): void {
    const { clock } = this.#components
    const cancel = clock.after(STREAM_MS, () => stream.abort(new Error('the peer does not close')))
    stream.onEnd((error) => {
      cancel()
      this.#allowed = error === undefined ? STREAMS_OUT_PER_PEER : 1
      if (error !== undefined) {
        this.lastError = error
      }
      this.#finished()
    })
    this.#retry.succeeded()
    stream.send(packet)
    stream.close()
  }

  #finished(): void {
    this.open--
    this.#components.release()
    this.#drive()
  }

  #failed(error: unknown): void {
    if (this.#stopping.signal.aborted) return
    this.lastError = toError(error)
    this.#retry.failed()
  }
}
