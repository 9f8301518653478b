/** Dials that others ask this node for, kept to the peer that asks: else anybody could have it dial third parties. */
import type { Connection } from '@libp2p/interface'
import type { ConnectionManager, OpenConnectionOptions } from '@libp2p/interface-internal'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { IsAllowed } from './address-rate.ts'
import { peerIn } from './address-rules.ts'
import { MAX_PEER_ADDRESSES } from '../limits.ts'

/** Runs a dial that the peer asked for: its connection counts as if the peer had opened it. */
export type DialFor = <T>(peer: string, dial: () => Promise<T>) => Promise<T>

export interface DialsForOthers {
  /** True while the address of a connection, and all together, have asked for little enough. */
  readonly isAllowed: IsAllowed
  readonly dialFor: DialFor
}

/** The part of a connection manager that such services use. */
export type Dialling = Pick<ConnectionManager, 'openConnection' | 'isDialable'>

/** Gives a connection manager that dials the peer of a connection only, at IP addresses only, and at few of them. */
export function dialsTowards(
  { remotePeer }: Connection,
  manager: Dialling,
  { dialFor }: DialsForOthers,
): Dialling {
  const peer = remotePeer.toString()
  const dialled = new Set<string>()
  const choose = (asked: Parameters<Dialling['openConnection']>[0]): Multiaddr[] => {
    const addresses = (Array.isArray(asked) ? asked : [asked]).filter(isMultiaddr)
    const chosen = addresses
      .filter((address) => isStraight(address) && (peerIn(address) ?? peer) === peer)
      .filter((address) => dialled.has(address.toString()) || dialled.size < MAX_PEER_ADDRESSES)
      .slice(0, MAX_PEER_ADDRESSES)
    if (chosen.length === 0) throw new Error('no address at which this peer may be dialled')
    for (const address of chosen) dialled.add(address.toString())
    return chosen.map((address) =>
      peerIn(address) === undefined ? address.encapsulate(`/p2p/${peer}`) : address,
    )
  }
  return {
    openConnection: async (
      asked: Parameters<Dialling['openConnection']>[0],
      options?: OpenConnectionOptions,
    ) => await dialFor(peer, () => manager.openConnection(choose(asked), options)),
    isDialable: async (asked, options) => await manager.isDialable(choose(asked), options),
  }
}

const isMultiaddr = (target: unknown): target is Multiaddr =>
  typeof target === 'object' && target !== null && 'getComponents' in target

/** False for names and circuits: they lead wherever their owner likes. */
function isStraight(address: Multiaddr): boolean {
  const names = address.getComponents().map(({ name }) => name)
  return ['ip4', 'ip6'].includes(names[0] ?? '') && !names.includes('p2p-circuit')
}
