import type { Socket } from 'node:net'
import { DIAL_MS } from '../limits.ts'
import { type Clock, toError } from '@mesh/core'
import { dial } from '../streams/dial.ts'
import { RequestRefused } from '../wire/accept.ts'
import type { Destinations } from './destinations.ts'

export interface DialDestinationInit {
  readonly host: string
  readonly port: number
  readonly destinations: Destinations
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Connects to the first address that answers; all of them together take `DIAL_MS` at most.
 * @throws RequestRefused; the signal's reason
 */
export async function dialDestination(init: DialDestinationInit): Promise<Socket> {
  const { host, port, destinations, clock, signal } = init
  const addresses = await destinations.resolve(host)
  let reason = 'no address'
  for (const address of addresses) {
    try {
      const withinMs = DIAL_MS / addresses.length
      return await dial({ address: { host: address, port }, withinMs, clock, signal })
    } catch (error) {
      signal.throwIfAborted()
      reason = `${address} port ${port}: ${toError(error).message}`
    }
  }
  throw new RequestRefused('target_down', reason)
}
