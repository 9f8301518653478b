/** The state that the key channels keep of one member. */
import type { PeerId } from '@mesh/core'
import type { Backoff } from '@mesh/core/limits'
import type { VpnChannel } from '../ports.ts'
import type { PathsMessage } from '../wire/control-message.ts'
import { isSameKey } from './key-registry.ts'
import { KEY_EXCHANGE_MS } from './limits.ts'

/** One control channel with the member. */
export interface LiveChannel {
  readonly channel: VpnChannel
  /** True when this node opened it. */
  readonly opened: boolean
  /** The key that was proven on it, and when (ms of monotonic time); undefined until then. */
  established: { readonly publicKey: Uint8Array; readonly at: number } | undefined
}

export class KeyMember {
  readonly peer: PeerId
  readonly backoff: Backoff
  readonly channels = new Set<LiveChannel>()
  /** Callers that wait for a channel to stand. */
  readonly waiters = new Set<PromiseWithResolvers<void>>()
  /** True while it is connected, proven, and speaks the protocol. */
  present = false
  /** The message that says how its socket can be reached; the last one. */
  paths: PathsMessage | undefined
  /** True while a channel to it is being opened. */
  opening = false
  cancelRetry: (() => void) | undefined

  constructor(peer: PeerId, backoff: Backoff) {
    this.peer = peer
    this.backoff = backoff
  }

  /** No channel stands, and none is on its way. */
  get isIdle(): boolean {
    return this.channels.size === 0 && !this.opening
  }

  /** A channel stands on which a key was proven. */
  get isOpen(): boolean {
    for (const live of this.channels) if (live.established !== undefined) return true
    return false
  }

  /** The address group that the newest channel with a proven key came from; undefined: none stands, or it has none. */
  get address(): string | undefined {
    return [...this.channels].findLast(({ established }) => established !== undefined)?.channel.address
  }

  /** Sends on the newest channel that stands. False: there is none. */
  send(message: Uint8Array): boolean {
    // an older one may stand on a connection that carries nothing any more
    const newest = [...this.channels].findLast(({ established }) => established !== undefined)
    // its end shows where it is read
    newest?.channel.send(message).catch(() => {})
    return newest !== undefined
  }

  stopRetrying(): void {
    this.cancelRetry?.()
    this.cancelRetry = undefined
  }

  /**
   * Ends the channels that `live` makes superfluous: those of another key, and the older ones. Of two that both ends
   * opened at once, the greater peer id closes its own.
   */
  closeRivals(live: LiveChannel, self: PeerId, now: number): void {
    for (const rival of this.channels) {
      if (rival === live || rival.established === undefined) continue
      if (!isSameKey(rival.established.publicKey, live.established?.publicKey)) {
        rival.channel.abort(new Error('the peer has restarted'))
      } else if (rival.opened === live.opened || now - rival.established.at > KEY_EXCHANGE_MS) {
        void rival.channel.close()
      } else if (self > this.peer) {
        void (live.opened ? live : rival).channel.close()
      }
    }
  }
}
