/** Keeps inbound streams unread for a while that came before their peer's key or entry in the ledger: one for each peer. */
import type { Clock, PeerId } from '@mesh/core'
import { type Place, Scope } from '@mesh/core/limits'
import type { ByteStream } from '../ports.ts'
import { HELD_STREAMS, STREAM_HELD_MS } from './limits.ts'

interface HeldStreamsInit {
  readonly clock: Clock
  /** The IP address at which a peer is connected; a peer without one counts alone. */
  readonly addressOf: (peer: PeerId) => string | undefined
  /** Called with a stream that is not kept, or waited too long; it has to end it. */
  readonly onRefused: (stream: ByteStream) => void
}

interface Held {
  readonly stream: ByteStream
  readonly place: Place
  readonly cancel: () => void
}

export class HeldStreams {
  readonly #init: HeldStreamsInit
  readonly #held = new Map<PeerId, Held>()
  readonly #places = new Scope(HELD_STREAMS)

  constructor(init: HeldStreamsInit) {
    this.#init = init
  }

  /** Keeps the stream in place of an older one of the peer. Unread, it costs no more than the stream's window. */
  hold(stream: ByteStream): void {
    const { clock, addressOf, onRefused } = this.#init
    const { peer } = stream
    this.release(peer)?.abort(new Error('a newer stream took its place'))
    const end = () => {
      this.release(peer)
      onRefused(stream)
    }
    const place = this.#places.reserve({ peer, address: addressOf(peer) ?? peer, end })
    if (place === undefined) return onRefused(stream)
    this.#held.set(peer, { stream, place, cancel: clock.after(STREAM_HELD_MS, end) })
  }

  /** Takes the peer's stream out. */
  release(peer: PeerId): ByteStream | undefined {
    const held = this.#held.get(peer)
    held?.cancel()
    held?.place.release()
    this.#held.delete(peer)
    return held?.stream
  }

  /** Must be told when a stream has ended. */
  ended(stream: ByteStream): void {
    if (this.#held.get(stream.peer)?.stream === stream) this.release(stream.peer)
  }

  peers(): readonly PeerId[] {
    return [...this.#held.keys()]
  }
}
