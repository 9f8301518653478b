/**
 * How often others may say who they are, and ask for relaying: by the address that they come from, and all together, since
 * keys and connections cost nothing. libp2p answers each such stream; one costs a look at the peer store, the other
 * another stream to whom it names.
 *
 * Wraps the handlers that libp2p 3.3.11 registered: what `Libp2p.use` takes is called once more for every stream that
 * came before (`connection.js` appends to the registered list).
 */
import type { Connection, Stream } from '@libp2p/interface'
import type { Registrar } from '@libp2p/interface-internal'
import { type Clock } from '@mesh/core'
import { IDENTIFIES, RELAY_REQUESTS } from './limits.ts'
import { IDENTIFY_PROTOCOLS, RELAY_HOP } from '../protocols.ts'
import { createAddressRate, type IsAllowed } from '../addresses/address-rate.ts'

/** Bounds who may say what it is to a host that has started. */
export async function boundIdentify(registrar: Registrar, clock: Clock): Promise<void> {
  for (const protocol of IDENTIFY_PROTOCOLS)
    await boundStreams(registrar, protocol, createAddressRate(IDENTIFIES, clock))
}

/** Bounds who may ask a host that relays for reservations and circuits; what is refused then costs a negotiation, too. */
export async function boundRelaying(registrar: Registrar, clock: Clock): Promise<void> {
  await boundStreams(registrar, RELAY_HOP, createAddressRate(RELAY_REQUESTS, clock))
}

async function boundStreams(registrar: Registrar, protocol: string, isAllowed: IsAllowed): Promise<void> {
  const { handler, options } = registrar.getHandler(protocol)
  const bounded = (stream: Stream, connection: Connection) => {
    if (isAllowed(connection)) return handler(stream, connection)
    stream.abort(new Error('too many streams of this protocol'))
    return undefined
  }
  await registrar.handle(protocol, bounded, { ...options, force: true })
}
