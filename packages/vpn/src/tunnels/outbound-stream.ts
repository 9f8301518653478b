/**
 * Sends the engine's packets for one peer on a stream:
 *
 * 1. The engine's event `readable` opens a stream, unless there is one.
 * 2. Batches are taken while the stream takes them, and again when it has drained.
 * 3. A direct stream replaces a relayed one when a direct connection exists. The old one is closed and sends its rest.
 * 4. A stream that ended is opened again when packets wait, with growing delays if it did not last.
 *
 * The bytes of a batch belong to the stream from `send` on. No promise, closure or timer for a batch.
 */
import { type PeerId, toError } from '@mesh/core'
import type { Engine } from '@mesh/engine'
import type { ByteStream, ByteStreams } from '../ports.ts'
import { tunnelError, within } from '../streams/tunnel-error.ts'
import {
  BATCHES_PER_TURN,
  PACKETS_PROTOCOL,
  STREAM_IDLE_MS,
  STREAM_PROVEN_MS,
  STREAM_STALL_MS,
} from './limits.ts'
import { STREAM_OPEN_MS } from '../streams/limits.ts'
import { StreamRetry } from '../streams/stream-retry.ts'
import type { VpnComponents } from '../vpn.ts'

interface OutboundComponents extends Pick<VpnComponents, 'clock' | 'random'> {
  readonly engine: Pick<Engine, 'take' | 'retryHandshake'>
  readonly streams: Pick<ByteStreams, 'open'>
  /** True while there is a direct connection to the peer. */
  readonly isDirect: () => boolean
  /** Called when packets are there for the peer, and whenever some are sent. */
  readonly onSend: () => void
  /** Called when the peer was not reached, or does not speak the protocol any more. It may call `stop`. */
  readonly onOpenFailed: () => void
}

export class OutboundStream {
  lastError: Error | undefined
  readonly #peer: PeerId
  readonly #components: OutboundComponents
  readonly #stopping = new AbortController()
  readonly #retry: StreamRetry
  #stream: ByteStream | undefined
  /** Unix ms at which the stream in use was opened. */
  #openedAt = 0
  #opening = false
  /** The engine told of frames that were not all taken. */
  #isReadable = false
  /** The time since when the stream takes no more, in unix ms; undefined when it does. */
  #fullSince: number | undefined
  /** Unix ms at which batches were sent last. */
  #sentAt = 0
  #cancelTurn: (() => void) | undefined

  constructor(peer: PeerId, components: OutboundComponents) {
    this.#peer = peer
    this.#components = components
    this.#retry = new StreamRetry(components, () => this.#drive())
  }

  /** True when the stream in use is direct; undefined without one. */
  get direct(): boolean | undefined {
    return this.#stream?.direct
  }

  /** Packets wait that the stream did not take so far. */
  get isWaiting(): boolean {
    return this.#isReadable
  }

  /** Tells that the engine has frames for the peer. */
  readable(): void {
    this.#isReadable = true
    this.#components.onSend()
    this.#drive()
  }

  /** Tells that a connection came, or changed. */
  reach(): void {
    this.#retry.hasten()
  }

  /**
   * Must be called now and then: gives up a stream that stands still, closes one on which nothing was sent
   * for long.
   */
  sweep(): void {
    const now = this.#components.clock.monotonic()
    const stream = this.#stream
    if (this.#fullSince !== undefined && now - this.#fullSince >= STREAM_STALL_MS) {
      this.reset(tunnelError('vpn.timeout', `the peer took nothing for ${STREAM_STALL_MS} ms`))
    } else if (stream !== undefined && !this.#isReadable && now - this.#sentAt >= STREAM_IDLE_MS) {
      this.#stream = undefined
      stream.close()
    }
  }

  /** Gives up the stream in use; another one is opened with the next packets. */
  reset(reason: Error): void {
    const old = this.#stream
    if (old === undefined) return
    this.#ended(reason)
    old.abort(reason)
  }

  stop(): void {
    const reason = tunnelError('vpn.stopped', 'the VPN does not need this stream any more')
    this.#stopping.abort(reason)
    this.#cancelTurn?.()
    this.#retry.stop()
    this.#stream?.abort(reason)
    this.#stream = undefined
  }

  #drive(): void {
    if (this.#stopping.signal.aborted) return
    // sending may end the stream
    if (this.#stream !== undefined && this.#isReadable && this.#fullSince === undefined)
      this.#pump(this.#stream)
    const needsStream =
      this.#stream === undefined ? this.#isReadable : !this.#stream.direct && this.#components.isDirect()
    if (needsStream) this.#openSoon()
  }

  #pump(to: ByteStream): void {
    const { engine, clock, onSend } = this.#components
    const now = clock.monotonic()
    this.#sentAt = now
    onSend()
    for (let batches = 0; batches < BATCHES_PER_TURN; batches++) {
      const batch = engine.take(this.#peer)
      if (batch === undefined) {
        this.#isReadable = false
        return
      }
      if (!to.send(batch)) {
        // `send` may have ended the stream
        if (this.#stream === to) this.#fullSince = now
        return
      }
      if (this.#stream !== to) return
    }
    this.#cancelTurn ??= clock.after(0, () => {
      this.#cancelTurn = undefined
      this.#drive()
    })
  }

  #openSoon(): void {
    if (this.#opening) return
    if (this.#retry.isWaiting()) return
    this.#opening = true
    void this.#open()
  }

  async #open(): Promise<void> {
    const { streams, clock } = this.#components
    const { signal } = this.#stopping
    const options = { from: 'proven', relayed: true } as const
    let next: ByteStream
    try {
      next = await within({ clock, ms: STREAM_OPEN_MS, signal }, (limited) =>
        streams.open(this.#peer, PACKETS_PROTOCOL, { ...options, signal: limited }),
      )
    } catch (error) {
      this.#opening = false
      if (!signal.aborted) this.#openFailed(toError(error))
      return
    }
    this.#opening = false
    if (signal.aborted) next.abort(toError(signal.reason))
    else this.#opened(next)
  }

  #openFailed(error: Error): void {
    this.lastError = error
    this.#retry.failed()
    this.#components.onOpenFailed()
    this.#drive()
  }

  #opened(next: ByteStream): void {
    const before = this.#stream
    if (before !== undefined && !next.direct) {
      // no gain; the direct connection may have gone meanwhile
      next.close()
      this.#retry.failed()
      return this.#drive()
    }
    this.#stream = next
    this.#openedAt = this.#components.clock.monotonic()
    this.#sentAt = this.#openedAt
    this.#fullSince = undefined
    next.onDrain(() => {
      if (this.#stream !== next) return
      this.#fullSince = undefined
      this.#drive()
    })
    next.onEnd((error) => {
      if (this.#stream === next) this.#ended(error)
    })
    before?.close()
    this.#drive()
  }

  #ended(error: Error | undefined): void {
    this.#stream = undefined
    this.#fullSince = undefined
    if (error !== undefined) this.lastError = error
    // one that lasted is opened again at once
    if (this.#components.clock.monotonic() - this.#openedAt >= STREAM_PROVEN_MS) this.#retry.succeeded()
    else this.#retry.failed()
    // a handshake may have been lost with it
    this.#components.engine.retryHandshake(this.#peer)
    this.#drive()
  }
}
