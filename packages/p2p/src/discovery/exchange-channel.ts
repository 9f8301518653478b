/** Sending to one member: what it does not know yet, gathered over a moment, no more often than it should. */
import { type Clock, toError } from '@mesh/core'
import {
  EXCHANGE_BURST,
  EXCHANGE_DELAY_MS,
  EXCHANGE_GAP_MS,
  MAX_PEER_RECORDS,
  MAX_RECORDS_PER_MESSAGE,
} from './limits.ts'
import type { Channel } from '../p2p-node.ts'
import type { PeerRecords } from './peer-records.ts'
import { encodePeers } from './peers-message.ts'

interface ExchangeChannelInit {
  readonly records: PeerRecords
  readonly isMember: (peer: string) => boolean
  /** The UDP port on which this node answers STUN; 0 when it does not. */
  readonly stunPort: () => number
  /** The name of this node. */
  readonly name: string | undefined
  readonly clock: Clock
}

export class ExchangeChannel {
  readonly channel: Channel
  readonly #init: ExchangeChannelInit
  /** The knowledge of the other end: the addresses of each subject, as text. */
  readonly #known = new Map<string, string>()
  #cancel: (() => void) | undefined
  #lastSentMs = Number.NEGATIVE_INFINITY
  #sentCount = 0
  /** True when the other end was told of this node itself. */
  #isGreeted = false

  constructor(channel: Channel, init: ExchangeChannelInit) {
    this.channel = channel
    this.#init = init
  }

  /** Notes what the other end told, so that it is not told the same. */
  noteKnown(subject: string, says: string): void {
    if (this.#known.size < MAX_PEER_RECORDS) this.#known.set(subject, says)
  }

  /** Tells the other end of this node itself once more. */
  greetAgain(): void {
    this.#isGreeted = false
    this.sendSoon()
  }

  /** Sends what is new a moment from now; the first messages need not keep the longer gap. */
  sendSoon(): void {
    if (this.#cancel !== undefined) return
    const { clock } = this.#init
    const gapMs = this.#sentCount < EXCHANGE_BURST ? EXCHANGE_DELAY_MS : EXCHANGE_GAP_MS
    const waitMs = Math.max(EXCHANGE_DELAY_MS, this.#lastSentMs + gapMs - clock.monotonic())
    this.#cancel = clock.after(this.#isGreeted ? waitMs : 0, () => {
      this.#cancel = undefined
      this.#send().catch((error: unknown) => this.channel.abort(toError(error)))
    })
  }

  cancel(): void {
    this.#cancel?.()
  }

  async #send(): Promise<void> {
    const { clock, stunPort } = this.#init
    const news = this.#takeNews()
    if (news.length === 0 && this.#isGreeted) return
    const name = this.#isGreeted ? undefined : this.#init.name
    this.#isGreeted = true
    this.#lastSentMs = clock.monotonic()
    this.#sentCount++
    await this.channel.send(encodePeers({ records: news, stunPort: stunPort(), name }))
    if (news.length === MAX_RECORDS_PER_MESSAGE) this.sendSoon()
  }

  #takeNews(): readonly Uint8Array[] {
    const { records, isMember } = this.#init
    const news: Uint8Array[] = []
    for (const [subject, { envelope, says }] of records.entries()) {
      if (subject === this.channel.peer || !isMember(subject) || this.#known.get(subject) === says) continue
      this.#known.set(subject, says)
      news.push(envelope)
      if (news.length === MAX_RECORDS_PER_MESSAGE) break
    }
    return news
  }
}
