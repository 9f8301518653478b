/**
 * Dials one peer at several addresses, one after the other with a short head start each. So an address that swallows packets costs a
 * quarter of a second. Loopback comes first, then other direct addresses by transport, then relayed ones.
 */
import type { Connection } from '@libp2p/interface'
import { afterTurns, type Clock } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { ipOf, isLoopbackIp, isRelayed, transportOf } from '../addresses/address-rules.ts'
import { UnneededDialError } from './host-dials.ts'
import { DIAL_STAGGER_MS, DIAL_TIMEOUT_MS, RELAY_STAGGER_MS } from './limits.ts'

export interface RaceDialInit {
  readonly dialOne: (address: Multiaddr, signal: AbortSignal) => Promise<Connection>
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Resolves with the first connection; dials still under way are aborted.
 * @throws AggregateError of what each address answered; the signal's reason; an error when time is over
 */
export async function raceDial(addresses: readonly Multiaddr[], init: RaceDialInit): Promise<Connection> {
  const { dialOne, clock, signal } = init
  signal.throwIfAborted()
  // one signal for each: a connection stays bound to that of its own dial
  const dials = inDialOrder(addresses).map((address) => ({ address, limit: new AbortController() }))
  if (dials.length === 0) throw new Error('no address that this node can dial')
  const { promise, resolve, reject } = Promise.withResolvers<Connection>()
  const errors: unknown[] = []
  let started = 0
  let winner: AbortController | undefined
  let cancelNext = () => {}
  const late = new Error(`no answer within ${DIAL_TIMEOUT_MS / 1_000} s`)
  const cancelTimeout = afterTurns(clock, DIAL_TIMEOUT_MS, () => reject(late))
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)

  function startNext(): void {
    cancelNext()
    const [dial, next] = dials.slice(started++)
    if (dial === undefined) return
    const { address, limit } = dial
    dialOne(address, limit.signal).then(
      (connection) => {
        winner ??= limit
        resolve(connection)
      },
      (error: unknown) => {
        errors.push(error)
        if (errors.length < dials.length) startNext()
        else reject(errors.length === 1 ? error : new AggregateError(errors, 'no address answered'))
      },
    )
    if (next !== undefined) cancelNext = clock.after(headStartMs(address, next.address), startNext)
  }

  let reason: unknown = new UnneededDialError('the race is won')
  try {
    startNext()
    return await promise
  } catch (error) {
    reason = error
    throw error
  } finally {
    cancelTimeout()
    cancelNext()
    started = dials.length
    signal.removeEventListener('abort', onAbort)
    for (const { limit } of dials) if (limit !== winner) limit.abort(reason)
  }
}

const PREFERENCE = ['memory', 'tcp', 'quic-v1', 'ws', 'wss', 'webrtc-direct']

function inDialOrder(addresses: readonly Multiaddr[]): readonly Multiaddr[] {
  const rank = (address: Multiaddr) => {
    if (isRelayed(address)) return 100
    const ip = ipOf(address)
    const transport = PREFERENCE.indexOf(transportOf(address) ?? '')
    return (ip !== undefined && isLoopbackIp(ip) ? 0 : 10) + (transport === -1 ? 9 : transport)
  }
  return addresses.toSorted((a, b) => rank(a) - rank(b))
}

/** How long `address` is tried before `next` is tried beside it, in ms. */
function headStartMs(address: Multiaddr, next: Multiaddr): number {
  return isRelayed(next) && !isRelayed(address) ? RELAY_STAGGER_MS : DIAL_STAGGER_MS
}
