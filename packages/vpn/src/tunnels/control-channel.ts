/** Runs one control channel: the exchange of keys, then what later versions say, within bounds of time and number. */
import { afterTurns, type Clock, toError } from '@mesh/core'
import { createTokenBucket, type LoopBudget } from '@mesh/core/limits'
import type { VpnChannel } from '../ports.ts'

import type { PathsMessage } from '../wire/control-message.ts'
import type { KeyExchange, KeyExchangeStep } from './key-exchange.ts'
import { CONTROL_MESSAGES_PER_MINUTE, KEY_EXCHANGE_MS } from './limits.ts'
import type { Refusal } from '../streams/refusals.ts'

const MESSAGE_RATE = { perSecond: CONTROL_MESSAGES_PER_MINUTE / 60, burst: CONTROL_MESSAGES_PER_MINUTE }

interface ControlChannelEvents {
  onEstablished(publicKey: Uint8Array, mtu: number): void
  onPaths(paths: PathsMessage): void
  /** Called at most once; the channel is reset then. */
  onRefused(code: Refusal): void
}

interface ControlChannelInit extends ControlChannelEvents {
  readonly clock: Clock
  readonly budget: LoopBudget
  /** Aborts when no channel is wanted any more. */
  readonly signal: AbortSignal
}

/** Resolves when the channel has ended, with the reason if there is one; never rejects. */
export async function runControlChannel(
  channel: VpnChannel,
  exchange: KeyExchange,
  { clock, budget, signal, onEstablished, onPaths, onRefused }: ControlChannelInit,
): Promise<Error | undefined> {
  let refusal: Error | undefined
  const refuse = (code: Refusal) => {
    refusal = new Error(code)
    onRefused(code)
    channel.abort(refusal)
  }
  /** The time that the peer has left for what it has to say next; what waits for this node's own turn takes none of it. */
  let leftMs = KEY_EXCHANGE_MS
  let isEstablished = false
  let waitsSince = 0
  let cancelDeadline = () => {}
  const awaitPeer = () => {
    waitsSince = clock.monotonic()
    if (isEstablished) return
    cancelDeadline = afterTurns(clock, Math.max(0, leftMs), () => refuse('key.timeout'))
  }
  const hearPeer = () => {
    cancelDeadline()
    leftMs -= clock.monotonic() - waitsSince
  }
  const allowance = createTokenBucket(MESSAGE_RATE, clock)
  const take = (message: Uint8Array): KeyExchangeStep => {
    // its time may have run out while it waited for its turn
    if (refusal !== undefined) return { kind: 'ignored' }
    const step = exchange.receive(message)
    if (step.kind === 'established') {
      isEstablished = true
      onEstablished(step.publicKey, step.mtu)
    } else if (step.kind === 'paths') onPaths(step.paths)
    return step
  }
  try {
    awaitPeer()
    await channel.send(exchange.hello)
    for await (const message of channel.messages()) {
      hearPeer()
      if (refusal !== undefined) break
      const step = allowance.take()
        ? await budget.run('members', async () => take(message), {
            key: channel.address ?? channel.peer,
            signal,
          })
        : ({ kind: 'refused', code: 'key.flood' } as const)
      if (step.kind === 'refused') {
        refuse(step.code)
        break
      }
      if (step.kind === 'send') leftMs = KEY_EXCHANGE_MS
      awaitPeer()
      if (step.kind === 'send') await channel.send(step.message)
    }
  } catch (error) {
    refusal ??= toError(error)
    channel.abort(refusal)
  } finally {
    cancelDeadline()
  }
  return refusal
}
