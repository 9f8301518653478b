import type { Connection } from '@libp2p/interface'
import { type Clock, createRateLimiter, createTokenBucket } from '@mesh/core'
import { MAX_RATED_ADDRESSES } from '../limits.ts'
import { addressGroupOf } from './address-group.ts'

type Rate = Parameters<typeof createTokenBucket>[0]

export type IsAllowed = (connection: Pick<Connection, 'remoteAddr'>) => boolean

/** True for a connection of whose address, and of all together, there was little enough. */
export function createAddressRate(
  rates: { readonly ofAddress: Rate; readonly ofAll: Rate },
  clock: Clock,
): IsAllowed {
  const ofAddress = createRateLimiter({ ...rates.ofAddress, maxAddresses: MAX_RATED_ADDRESSES }, clock)
  const ofAll = createTokenBucket(rates.ofAll, clock)
  return (connection) => ofAddress.take(addressGroupOf(connection)) && ofAll.take()
}
