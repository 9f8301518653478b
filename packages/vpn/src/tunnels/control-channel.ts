/** Runs one control channel: the exchange of keys, then what later versions say, within bounds of time and number. */
import { type Clock, createTokenBucket, toError } from '@mesh/core'
import type { VpnChannel } from '../ports.ts'

import type { PathsMessage } from './control-message.ts'
import type { KeyExchange } from './key-exchange.ts'
import { CONTROL_MESSAGES_PER_MINUTE, KEY_EXCHANGE_MS } from './limits.ts'
import type { Refusal } from './refusals.ts'

const MESSAGE_RATE = { perSecond: CONTROL_MESSAGES_PER_MINUTE / 60, burst: CONTROL_MESSAGES_PER_MINUTE }

interface ControlChannelEvents {
  onEstablished(publicKey: Uint8Array, mtu: number): void
  onPaths(paths: PathsMessage): void
  /** Called at most once; the channel is reset then. */
  onRefused(code: Refusal): void
}

/** Resolves when the channel has ended, with the reason if there is one; never rejects. */
export async function runControlChannel(
  channel: VpnChannel,
  exchange: KeyExchange,
  { clock, onEstablished, onPaths, onRefused }: ControlChannelEvents & { readonly clock: Clock },
): Promise<Error | undefined> {
  let refusal: Error | undefined
  const refuse = (code: Refusal) => {
    refusal = new Error(code)
    onRefused(code)
    channel.abort(refusal)
  }
  const cancelDeadline = clock.after(KEY_EXCHANGE_MS, () => refuse('key.timeout'))
  const allowance = createTokenBucket(MESSAGE_RATE, clock)
  try {
    await channel.send(exchange.hello)
    for await (const message of channel.messages()) {
      if (refusal !== undefined) break
      const step = allowance.take()
        ? exchange.receive(message)
        : ({ kind: 'refused', code: 'key.flood' } as const)
      if (step.kind === 'refused') {
        refuse(step.code)
        break
      }
      if (step.kind === 'send') await channel.send(step.message)
      else if (step.kind === 'established') {
        cancelDeadline()
        onEstablished(step.publicKey, step.mtu)
      } else if (step.kind === 'paths') onPaths(step.paths)
    }
  } catch (error) {
    refusal ??= toError(error)
    channel.abort(refusal)
  } finally {
    cancelDeadline()
  }
  return refusal
}
