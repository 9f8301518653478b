/** A control channel: both ends tell how they can be reached. That holds until the channel ends. */
import type { TLSSocket } from 'node:tls'
import { type Clock, type PeerId, toError } from '@mesh/core'
import { createTokenBucket } from '@mesh/core/limits'
import type { Channel } from '../p2p-node.ts'
import { type BulkMessage, decodeBulkMessage, encodeBulkMessage, type Offer } from './bulk-message.ts'
import type { Identities } from './identities.ts'
import { MAX_DIAL_BACKS_PER_MINUTE, MAX_PARALLEL_DIALS_PER_PEER, NEGOTIATE_MS } from './limits.ts'
import type { Agreement } from './opener.ts'

export interface ControlComponents {
  readonly identities: Identities
  /** This node's own TCP ports. */
  readonly ports: () => readonly number[]
  /** Connects to the peer by its offer. */
  readonly dial: (peer: PeerId, offer: Offer) => Promise<TLSSocket>
  readonly clock: Clock
}

interface On {
  readonly onSocket: (socket: TLSSocket) => void
  readonly onEnded: () => void
}

/** The opener's side: offers first. Rejects when the peer does not answer in time. */
export async function proposeBulk(
  channel: Channel,
  { onSocket, onEnded }: On,
  components: ControlComponents,
): Promise<Agreement> {
  const { identities, clock, dial, ports } = components
  const given = identities.give(channel.peer, onSocket)
  const messages = channel.messages()[Symbol.asyncIterator]()
  const cancel = clock.after(NEGOTIATE_MS, () => channel.abort(new Error('no answer to the offer')))
  try {
    await channel.send(encodeBulkMessage({ type: 'offer', ...given, ports: ports() }))
    const answer = await nextMessage(messages)
    if (answer?.type !== 'offer') throw new Error('no offer came')
    void untilEnded(messages).finally(() => {
      given.end()
      onEnded()
      channel.abort(new Error('the control channel ended'))
    })
    return {
      dial: () => dial(channel.peer, answer),
      // a channel that broke ends the agreement
      askToDial: (count) => void channel.send(encodeBulkMessage({ type: 'dial', count })).catch(() => {}),
      close: () => channel.abort(new Error('not needed any more')),
    }
  } catch (error) {
    given.end()
    channel.abort(toError(error))
    throw error
  } finally {
    cancel()
  }
}

/** The other side. Resolves when the channel ended. */
export async function answerBulk(
  channel: Channel,
  onSocket: (socket: TLSSocket) => void,
  components: ControlComponents,
): Promise<void> {
  const { identities, clock, dial, ports } = components
  const messages = channel.messages()[Symbol.asyncIterator]()
  const cancel = clock.after(NEGOTIATE_MS, () => channel.abort(new Error('no offer came')))
  const offer = await nextMessage(messages).finally(cancel)
  if (offer?.type !== 'offer') throw new Error('no offer came')
  const given = identities.give(channel.peer, onSocket)
  const rate = createTokenBucket(
    { perSecond: MAX_DIAL_BACKS_PER_MINUTE / 60, burst: MAX_DIAL_BACKS_PER_MINUTE },
    clock,
  )
  let dialling = 0
  const dialBack = async () => {
    if (dialling >= MAX_PARALLEL_DIALS_PER_PEER || !rate.take()) return
    dialling++
    try {
      onSocket(await dial(channel.peer, offer))
    } catch {
      // the peer notices that nothing came
    } finally {
      dialling--
    }
  }
  try {
    await channel.send(encodeBulkMessage({ type: 'offer', ...given, ports: ports() }))
    await untilEnded(messages, ({ count }) => {
      for (let at = 0; at < count; at++) void dialBack()
    })
  } finally {
    given.end()
  }
}

async function nextMessage(messages: AsyncIterator<Uint8Array>): Promise<BulkMessage | undefined> {
  const { done, value } = await messages.next()
  return done === true ? undefined : decodeBulkMessage(value)
}

/** Ends with the channel, or with a message that has no place here; never rejects. */
async function untilEnded(
  messages: AsyncIterator<Uint8Array>,
  onDial?: (message: Extract<BulkMessage, { type: 'dial' }>) => void,
): Promise<void> {
  try {
    for (;;) {
      const message = await nextMessage(messages)
      if (message?.type !== 'dial' || onDial === undefined) return
      onDial(message)
    }
  } catch {
    // the channel broke
  }
}
