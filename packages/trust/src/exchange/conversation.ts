/** One exchange over a channel: messages one after another, each awaited for so long. */
import { type Clock, withDeadline } from '@mesh/core'
import { EXCHANGE_TIMEOUT_MS } from '../limits.ts'
import type { TrustChannel } from '../ports.ts'
import { decodeTrustMessage, encodeTrustMessage, type TrustMessage } from './trust-message.ts'

export class Conversation {
  readonly channel: TrustChannel
  /** Aborts when nothing of this exchange is wanted any more. */
  readonly ended: AbortSignal
  readonly #clock: Clock
  readonly #messages: AsyncIterator<Uint8Array>

  constructor(channel: TrustChannel, clock: Clock, ended = new AbortController().signal) {
    this.channel = channel
    this.ended = ended
    this.#clock = clock
    this.#messages = channel.messages()[Symbol.asyncIterator]()
  }

  /** Gives undefined when the other side is at its end. @throws when it sends what is no message, or nothing in time */
  async next(): Promise<TrustMessage | undefined> {
    const reason = () => new Error('the other side of a trust exchange is silent')
    const init = { clock: this.#clock, ms: EXCHANGE_TIMEOUT_MS, reason }
    const { value, done } = await withDeadline(init, async (signal) => {
      const onAbort = () => this.channel.abort(reason())
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        return await this.#messages.next()
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    })
    if (done === true) return undefined
    const message = decodeTrustMessage(value)
    if (message === undefined) throw new Error('not a message of the trust protocol')
    return message
  }

  async send(message: Parameters<typeof encodeTrustMessage>[0]): Promise<void> {
    await this.channel.send(encodeTrustMessage(message))
  }
}
