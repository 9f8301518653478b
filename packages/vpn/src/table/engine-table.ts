/** The engine's form of a table: with the tunnel to each peer, as it is now. Pure. */
import type { Cidr, IpAddress, PeerId } from '@mesh/core'
import type { EngineGuest, EnginePeer, EngineTable, Tunnel } from '@mesh/engine'
import { type Guest, guestAddresses } from '../guests/guest-file.ts'
import type { VpnTable } from './build-table.ts'
import { hostRange } from '../addresses/prefix.ts'

interface EngineTableInput {
  readonly own: readonly IpAddress[]
  readonly advertised: readonly Cidr[]
  readonly tunnelOf: (peer: PeerId) => { readonly tunnel: Tunnel; readonly mtu: number }
  /** The longest packet of guests, in bytes. */
  readonly guestMtu: number
}

export function buildEngineTable(
  { peers, guests }: Pick<VpnTable, 'peers' | 'guests'>,
  { own, advertised, tunnelOf, guestMtu }: EngineTableInput,
): EngineTable {
  const enginePeers: EnginePeer[] = []
  for (const [peer, { allowed }] of peers) enginePeers.push({ peer, allowed, ...tunnelOf(peer) })
  const engineGuests = guests.map((guest) => engineGuest(guest, guestMtu))
  return { local: [...own.map(hostRange), ...advertised], peers: enginePeers, guests: engineGuests }
}

function engineGuest({ publicKey, presharedKey, ...guest }: Guest, mtu: number): EngineGuest {
  return {
    key: publicKey,
    presharedKey: Buffer.from(presharedKey, 'base64'),
    allowed: guestAddresses(guest).map(hostRange),
    mtu,
  }
}
