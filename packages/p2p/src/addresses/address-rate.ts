import type { Connection } from '@libp2p/interface'
import { type Clock, createRateLimiter, createTokenBucket } from '@mesh/core'
import { MAX_RATED_ADDRESSES } from '../limits.ts'
import { addressGroupOf } from './address-group.ts'

type Rate = Parameters<typeof createTokenBucket>[0]

interface AddressRates {
  readonly ofAddress: Rate
  readonly ofAll: Rate
}

export type IsAllowed = (connection: Pick<Connection, 'remoteAddr'>) => boolean

/** True for a connection of whose address, and of all together, there was little enough. */
export function createAddressRate(rates: AddressRates, clock: Clock): IsAllowed {
  const take = createGroupRate(rates, clock)
  return (connection) => take(addressGroupOf(connection))
}

/** The same by the address alone, as `addressGroupOf` gives it, where telling it each time would cost too much. */
export function createGroupRate(rates: AddressRates, clock: Clock): (address: string) => boolean {
  const ofAddress = createRateLimiter({ ...rates.ofAddress, maxAddresses: MAX_RATED_ADDRESSES }, clock)
  const ofAll = createTokenBucket(rates.ofAll, clock)
  return (address) => ofAddress.take(address) && ofAll.take()
}
