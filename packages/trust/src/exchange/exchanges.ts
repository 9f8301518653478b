/**
 * The exchanges of `/mesh/trust/1` with peers that proved the network's key, whether they are let in or not. The side
 * that opens says with its first message what it wants: an answer to its nonce, or to compare what both hold of the
 * bucket `admission`. Bounded by peer, by address and in all; what goes wrong ends the channel and is tried again later.
 */
import { type Clock, type Logger, type PeerId, type Random } from '@mesh/core'
import { type Backoff, createBackoff, createRate } from '@mesh/core/limits'
import {
  EXCHANGE_RETRY_MAX_MS,
  EXCHANGE_RETRY_MIN_MS,
  EXCHANGE_RATES,
  MAX_EXCHANGES_PER_PEER,
  MAX_TRUST_MESSAGE_BYTES,
} from '../limits.ts'
import type { TrustChannel, TrustChannels } from '../ports.ts'
import { Conversation } from './conversation.ts'
import type { TrustMessage } from './trust-message.ts'

const TRUST_PROTOCOL = '/mesh/trust/1'
const OPTIONS = {
  maxMessageBytes: MAX_TRUST_MESSAGE_BYTES,
  maxPerPeer: MAX_EXCHANGES_PER_PEER,
  ungated: true,
} as const

/** One purpose of the protocol. */
export interface ExchangeKind {
  /** Gives the message that an exchange of this kind begins with. */
  readonly first: TrustMessage['kind']
  /** True when this node has a reason to begin one with the peer now. */
  isWanted(peer: PeerId): boolean
  /** Talks as the side that opened. */
  begin(conversation: Conversation): Promise<void>
  /** Talks as the side that was asked. */
  answer(conversation: Conversation, first: TrustMessage): Promise<void>
}

interface ExchangesComponents {
  readonly channels: TrustChannels
  readonly kinds: readonly ExchangeKind[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

interface Wish {
  readonly backoff: Backoff
  running: boolean
  again: boolean
  cancel: () => void
}

export class Exchanges {
  readonly #components: ExchangesComponents
  readonly #ended = new AbortController()
  readonly #present = new Set<PeerId>()
  readonly #wishes = new Map<string, Wish>()
  readonly #rate
  #stopPresence = () => {}

  constructor(components: ExchangesComponents) {
    const { clock } = components
    this.#components = components
    this.#rate = createRate(EXCHANGE_RATES, clock)
  }

  async start(): Promise<void> {
    const { channels } = this.#components
    await channels.handle(TRUST_PROTOCOL, OPTIONS, (channel) => this.#serve(channel))
    const onPeer = (peer: PeerId, present: boolean) => {
      if (present) {
        this.#present.add(peer)
        this.look(peer)
      } else this.#forget(peer)
    }
    const ungated = { ungated: true } as const
    this.#stopPresence = channels.onPeerWith(TRUST_PROTOCOL, onPeer, ungated)
    for (const peer of channels.peersWith(TRUST_PROTOCOL, ungated)) onPeer(peer, true)
  }

  stop(): void {
    this.#ended.abort(new Error('trust has stopped'))
    this.#stopPresence()
    for (const { cancel } of this.#wishes.values()) cancel()
    this.#wishes.clear()
  }

  /** Gives the peers that are here and speak the protocol. */
  present(): readonly PeerId[] {
    return [...this.#present]
  }

  /** Begins what is wanted with the peer now, or after what runs. */
  look(peer: PeerId): void {
    if (this.#ended.signal.aborted || !this.#present.has(peer)) return
    for (const kind of this.#components.kinds) if (kind.isWanted(peer)) this.#wish(peer, kind)
  }

  /** Looks at all peers that are there. */
  lookAtAll(): void {
    for (const peer of this.#present) this.look(peer)
  }

  #forget(peer: PeerId): void {
    this.#present.delete(peer)
    for (const { first } of this.#components.kinds) {
      this.#wishes.get(`${first} ${peer}`)?.cancel()
      this.#wishes.delete(`${first} ${peer}`)
    }
  }

  #wish(peer: PeerId, kind: ExchangeKind): void {
    const { clock, random } = this.#components
    const id = `${kind.first} ${peer}`
    const bounds = { leastMs: EXCHANGE_RETRY_MIN_MS, mostMs: EXCHANGE_RETRY_MAX_MS }
    const wish = this.#wishes.get(id) ?? {
      backoff: createBackoff(bounds, { clock, random }),
      running: false,
      again: false,
      cancel: () => {},
    }
    this.#wishes.set(id, wish)
    if (wish.running) {
      wish.again = true
      return
    }
    wish.cancel()
    wish.cancel = clock.after(wish.backoff.remainingMs(), () => void this.#begin(peer, kind, wish))
  }

  async #begin(peer: PeerId, kind: ExchangeKind, wish: Wish): Promise<void> {
    const { channels, clock, log } = this.#components
    if (!kind.isWanted(peer)) return
    wish.running = true
    wish.again = false
    try {
      const channel = await channels.open(peer, TRUST_PROTOCOL, { ...OPTIONS, signal: this.#ended.signal })
      await endWith(channel, () => kind.begin(new Conversation(channel, clock, this.#ended.signal)))
      wish.backoff.succeeded()
    } catch (error) {
      log.debug('trust exchange failed', { peer, kind: kind.first, error: String(error) })
      wish.backoff.failed()
      wish.again = true
    }
    wish.running = false
    if (wish.again) this.look(peer)
  }

  #mayBegin({ peer, address = peer }: TrustChannel): boolean {
    return this.#rate.take({ peer, address })
  }

  async #serve(channel: TrustChannel): Promise<void> {
    const { kinds, clock, log } = this.#components
    if (!this.#mayBegin(channel)) return channel.abort(new Error('too many trust exchanges'))
    const conversation = new Conversation(channel, clock, this.#ended.signal)
    try {
      const first = await conversation.next()
      const kind = kinds.find((each) => each.first === first?.kind)
      if (first !== undefined) await kind?.answer(conversation, first)
    } catch (error) {
      log.debug('trust exchange ended', { peer: channel.peer, error: String(error) })
      channel.abort(new Error('trust exchange failed'))
    }
  }
}

async function endWith(channel: TrustChannel, talk: () => Promise<void>): Promise<void> {
  try {
    await talk()
    await channel.close()
  } catch (error) {
    channel.abort(new Error('trust exchange failed'))
    throw error
  }
}
