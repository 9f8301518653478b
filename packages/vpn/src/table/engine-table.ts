/** The engine's form of a table: with the tunnel to each peer, as it is now. Pure. */
import type { Cidr, IpAddress, PeerId } from '@mesh/core'
import type { EnginePeer, EngineTable, Tunnel } from '@mesh/engine'
import type { VpnTable } from './build-table.ts'
import { hostRange } from './prefix.ts'

interface EngineTableInput {
  readonly own: readonly IpAddress[]
  readonly advertised: readonly Cidr[]
  readonly tunnelOf: (peer: PeerId) => { readonly tunnel: Tunnel; readonly mtu: number }
}

export function buildEngineTable(
  { peers }: Pick<VpnTable, 'peers'>,
  { own, advertised, tunnelOf }: EngineTableInput,
): EngineTable {
  const enginePeers: EnginePeer[] = []
  for (const [peer, { allowed }] of peers) enginePeers.push({ peer, allowed, ...tunnelOf(peer) })
  return { local: [...own.map(hostRange), ...advertised], peers: enginePeers }
}
