import type { Connection } from '@libp2p/interface'
import type { Clock } from '@mesh/core'
import { createRate, type RateInit } from '@mesh/core/limits'
import { addressGroupOf } from './address-group.ts'

export type IsAllowed = (connection: Pick<Connection, 'remoteAddr'>) => boolean

/** True for a connection of whose address, and of all together, there was little enough. */
export function createAddressRate(rates: RateInit, clock: Clock): IsAllowed {
  const rate = createRate(rates, clock)
  return (connection) => rate.take({ address: addressGroupOf(connection) })
}
