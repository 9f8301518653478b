import type { Connection } from '@libp2p/interface'
import { type Clock, createFairRate, type FairRateInit } from '@mesh/core'
import { MAX_RATED_ADDRESSES } from '../limits.ts'
import { addressGroupOf } from './address-group.ts'

type AddressRates = Omit<FairRateInit, 'maxAddresses'>

export type IsAllowed = (connection: Pick<Connection, 'remoteAddr'>) => boolean

/** True for a connection of whose address, and of all together, there was little enough. */
export function createAddressRate(rates: AddressRates, clock: Clock): IsAllowed {
  const take = createGroupRate(rates, clock)
  return (connection) => take(addressGroupOf(connection))
}

/** The same by the address alone, as `addressGroupOf` gives it, where telling it each time would cost too much. */
export function createGroupRate(rates: AddressRates, clock: Clock): (address: string) => boolean {
  const rate = createFairRate({ ...rates, maxAddresses: MAX_RATED_ADDRESSES }, clock)
  return (address) => rate.take(address)
}
