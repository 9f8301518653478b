/** The engine's form of a table: with the way to each peer, as it is known now. Pure. */
import type { Cidr, IpAddress, PeerId } from '@mesh/core'
import type { EnginePeer, EngineTable, Way } from '@mesh/engine'
import type { VpnTable } from './build-table.ts'
import { hostRange } from './prefix.ts'

export interface EngineTableInput {
  readonly own: readonly IpAddress[]
  readonly advertised: readonly Cidr[]
  readonly wayOf: (peer: PeerId) => { readonly way: Way; readonly mtu: number }
}

export function buildEngineTable(
  { peers }: Pick<VpnTable, 'peers'>,
  { own, advertised, wayOf }: EngineTableInput,
): EngineTable {
  const enginePeers: EnginePeer[] = []
  for (const [peer, { allowed }] of peers) enginePeers.push({ peer, allowed, ...wayOf(peer) })
  return { local: [...own.map(hostRange), ...advertised], peers: enginePeers }
}
