import { RELAY_CHECK_DELAY_MS, RELAY_REFUSED_MS, SPECULATIVE_TRY_MS } from './limits.ts'
import { isConnected, isDirect, isSearching, type PeerState } from './peer-state.ts'

/** When the peer is to be looked at again if nothing happens before; infinity: never. */
export function wakeAt(state: PeerState, now: number): number {
  const { search, demand, relayed, upgrade, retireAt, relay, rest } = state
  let least = Number.POSITIVE_INFINITY
  const wake = (at: number | undefined) => {
    if (at !== undefined && at > now && at < least) least = at
  }
  wake(retireAt)
  wake(demand?.relayFrom)
  wake(demand?.retryAt)
  if (search !== undefined && !isConnected(state)) {
    if (!isSearching(state) && !search.needsRelay) wake(search.due)
    if (search.relayFrom !== undefined) wake(Math.max(search.relayFrom, rest.until))
  }
  if (relayed?.failed === false) wake(relayed.since + SPECULATIVE_TRY_MS)
  if (upgrade !== undefined && upgrade.running === undefined && !isDirect(state)) wake(upgrade.due)
  if (relay.offeredSince !== undefined) {
    wake(relay.offeredSince + RELAY_CHECK_DELAY_MS)
    if (relay.refusedAt !== undefined) wake(relay.refusedAt + RELAY_REFUSED_MS)
  }
  return least
}
