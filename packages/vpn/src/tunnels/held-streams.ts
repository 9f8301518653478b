/** Inbound streams that came before their peer's key or entry in the ledger: kept unread, one a peer, for a while. */
import type { Clock, PeerId } from '@mesh/core'
import type { ByteStream } from '../ports.ts'
import { MAX_HELD_STREAMS, STREAM_HELD_MS } from './limits.ts'

export class HeldStreams {
  readonly #held = new Map<PeerId, { readonly stream: ByteStream; readonly cancel: () => void }>()
  readonly #clock: Clock
  readonly #onRefused: (stream: ByteStream) => void

  /** @param onRefused called with a stream that is not kept, or waited too long; it has to end it */
  constructor(clock: Clock, onRefused: (stream: ByteStream) => void) {
    this.#clock = clock
    this.#onRefused = onRefused
  }

  /** Keeps the stream in place of an older one of the peer. Unread, it costs no more than the stream's window. */
  hold(stream: ByteStream): void {
    const { peer } = stream
    this.release(peer)?.abort(new Error('a newer stream took its place'))
    if (this.#held.size >= MAX_HELD_STREAMS) return this.#onRefused(stream)
    const cancel = this.#clock.after(STREAM_HELD_MS, () => {
      this.release(peer)
      this.#onRefused(stream)
    })
    this.#held.set(peer, { stream, cancel })
  }

  /** Takes the peer's stream out. */
  release(peer: PeerId): ByteStream | undefined {
    const found = this.#held.get(peer)
    found?.cancel()
    this.#held.delete(peer)
    return found?.stream
  }

  /** Must be told when a stream has ended. */
  ended(stream: ByteStream): void {
    if (this.#held.get(stream.peer)?.stream === stream) this.release(stream.peer)
  }

  peers(): readonly PeerId[] {
    return [...this.#held.keys()]
  }
}
