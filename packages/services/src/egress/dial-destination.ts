import type { Socket } from 'node:net'
import { DIAL_MS } from '../limits.ts'
import { type Clock, toError, untilAborted } from '@mesh/core'
import { dial } from '../streams/dial.ts'
import { within } from '../timeout.ts'
import { RequestRefused } from '../wire/accept.ts'
import type { Destinations } from './destinations.ts'

export interface DialDestinationInit {
  readonly host: string
  readonly port: number
  readonly destinations: Destinations
  /** Who asks, as a text: look-ups of names are fair between askers. */
  readonly asker: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** True: nothing is read until the socket is resumed. */
  readonly isPaused: boolean
}

/**
 * Connects to the first address that answers; all of them together take `DIAL_MS` at most, and so does the look-up.
 * @throws RequestRefused; the signal's reason
 */
export async function dialDestination(init: DialDestinationInit): Promise<Socket> {
  const { host, port, destinations, asker, clock, signal, isPaused } = init
  const addresses = await within({ clock, ms: DIAL_MS, signal }, (limited) =>
    untilAborted(destinations.resolve(host, { asker, signal: limited }), limited),
  ).catch((error: unknown) => {
    signal.throwIfAborted()
    if (error instanceof RequestRefused) throw error
    throw new RequestRefused('target_down', `${host}: the name could not be looked up in time`)
  })
  let reason = 'no address'
  for (const address of addresses) {
    try {
      const withinMs = DIAL_MS / addresses.length
      return await dial({ address: { host: address, port }, withinMs, clock, signal, isPaused })
    } catch (error) {
      signal.throwIfAborted()
      reason = `${address} port ${port}: ${toError(error).message}`
    }
  }
  throw new RequestRefused('target_down', reason)
}
