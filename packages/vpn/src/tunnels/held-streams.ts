/**
 * Inbound streams that came before their peer's key or entry in the ledger: kept unread, one a peer, for a while. Of as many
 * as there may be the last one of the address with the most makes way.
 */
import { addressGroup, type Clock, KeyedCounts, type PeerId, whoMakesWay } from '@mesh/core'
import type { ByteStream } from '../ports.ts'
import { MAX_HELD_STREAMS, MAX_HELD_STREAMS_OF_ADDRESS, STREAM_HELD_MS } from './limits.ts'

interface HeldStreamsInit {
  readonly clock: Clock
  /** The IP address at which a peer is connected; those without one count alone. */
  readonly addressOf: (peer: PeerId) => string | undefined
  /** Called with a stream that is not kept, or waited too long; it has to end it. */
  readonly onRefused: (stream: ByteStream) => void
}

interface Held {
  readonly stream: ByteStream
  /** The group of addresses that it counts under. */
  readonly group: string
  readonly cancel: () => void
}

export class HeldStreams {
  readonly #held = new Map<PeerId, Held>()
  readonly #byAddress = new KeyedCounts<string>()
  readonly #clock: Clock
  readonly #addressOf: HeldStreamsInit['addressOf']
  readonly #onRefused: HeldStreamsInit['onRefused']

  constructor({ clock, addressOf, onRefused }: HeldStreamsInit) {
    this.#clock = clock
    this.#addressOf = addressOf
    this.#onRefused = onRefused
  }

  /** Keeps the stream in place of an older one of the peer. Unread, it costs no more than the stream's window. */
  hold(stream: ByteStream): void {
    const { peer } = stream
    this.release(peer)?.abort(new Error('a newer stream took its place'))
    const group = addressGroup(this.#addressOf(peer) ?? peer)
    if (this.#byAddress.of(group) >= MAX_HELD_STREAMS_OF_ADDRESS) return this.#onRefused(stream)
    if (this.#held.size >= MAX_HELD_STREAMS && !this.#makeRoom(group)) return this.#onRefused(stream)
    const cancel = this.#clock.after(STREAM_HELD_MS, () => {
      this.release(peer)
      this.#onRefused(stream)
    })
    this.#held.set(peer, { stream, group, cancel })
    this.#byAddress.add(group)
  }

  /** False where nobody makes way. */
  #makeRoom(group: string): boolean {
    const leaving = whoMakesWay(this.#held.values(), (held) => held.group, group)
    if (leaving === undefined) return false
    this.release(leaving.stream.peer)
    this.#onRefused(leaving.stream)
    return true
  }

  /** Takes the peer's stream out. */
  release(peer: PeerId): ByteStream | undefined {
    const found = this.#held.get(peer)
    found?.cancel()
    if (found !== undefined) this.#byAddress.remove(found.group)
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
