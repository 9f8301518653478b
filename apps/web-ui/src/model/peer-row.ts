/** Every peer that this node knows as one list, joined from `/api/peers`, `/api/nodes` and `/api/peerstore`. */
import type { NodeView, PeerView } from '@mesh/api-contract'
import { type Machine, machineOf, nameOrOwn, type Reach, reachOf } from './machine.ts'
import { createWordFilter } from './word-filter.ts'

export interface PeerRow {
  readonly id: string
  readonly name: string
  readonly named: boolean
  readonly reach: Reach
  /** The relay that passes packets on; undefined for none. */
  readonly relay: string | undefined
  readonly isMember: boolean
  /** It is on the topic, or a heartbeat of it is younger than ten minutes. */
  readonly isOnline: boolean
  /** Its addresses are in the peer store. */
  readonly isStored: boolean
  /** Undefined: only another list has it. */
  readonly peer: PeerView | undefined
}

interface PeerSources {
  readonly self: string
  readonly machines: readonly Machine[]
  readonly peers: readonly PeerView[]
  readonly nodes: readonly NodeView[]
  readonly store: readonly NodeView[]
}

/** All but this node: those that are connected first, then members, then by name. */
export function buildPeerRows({ self, machines, peers, nodes, store }: PeerSources): readonly PeerRow[] {
  const known = new Map(peers.map((peer) => [peer.ID, peer]))
  const online = new Set(nodes.filter((node) => node.Online).map(({ ID }) => ID))
  const stored = new Set(store.map(({ ID }) => ID))
  const ids = new Set([...known.keys(), ...online, ...stored])
  ids.delete(self)
  ids.delete('')
  const rows = [...ids].map((id): PeerRow => {
    const peer = known.get(id)
    // the connection itself, not the way that packets of the VPN take
    const connection = peer && { ...peer, UDP: null }
    return {
      id,
      name: nameOrOwn(machines, id, peer?.Name ?? ''),
      named: peer?.Name !== undefined && peer.Name !== '',
      reach: reachOf(id, { self, heard: online, record: undefined, peer: connection }),
      relay: peer?.Relay ?? undefined,
      isMember: peer?.Member === true || machineOf(machines, id) !== undefined,
      isOnline: online.has(id),
      isStored: stored.has(id),
      peer,
    }
  })
  return rows.toSorted((a, b) => rankOf(a) - rankOf(b) || COLLATOR.compare(a.name, b.name))
}

const COLLATOR = new Intl.Collator('en', { numeric: true })

function rankOf({ peer, isMember }: PeerRow): number {
  return (peer?.Connected === true ? 0 : 2) + (isMember ? 0 : 1)
}

export const { filter: filterPeers, words: PEER_WORDS } = createWordFilter<PeerRow>({
  states: {
    member: ({ isMember }) => isMember,
    stranger: ({ isMember }) => !isMember,
    connected: ({ peer }) => peer?.Connected === true,
    direct: ({ reach }) => reach.kind === 'direct',
    relayed: ({ reach }) => reach.kind === 'relayed',
    online: ({ isOnline }) => isOnline,
    offline: ({ reach }) => reach.kind === 'offline',
    stored: ({ isStored }) => isStored,
    failed: ({ peer }) => peer?.LastError != null,
  },
  fields: {
    found: ({ peer }) => peer?.FoundBy ?? [],
    transport: ({ peer }) => peer?.Transport ?? '',
    relay: ({ relay = '' }) => relay,
  },
  texts: ({ name, id, peer }) => [name, id, peer?.Agent ?? '', ...(peer?.Addresses ?? [])],
})

/** `local network, members`: the ways of discovery that found a peer, in words. */
export function foundInWords(ways: readonly string[]): string {
  return ways.map((way) => (Object.hasOwn(FOUND_BY, way) ? (FOUND_BY[way] ?? way) : way)).join(', ')
}

const FOUND_BY: Readonly<Record<string, string>> = {
  mdns: 'local network',
  dht: 'public DHT',
  bootstrap: 'configured address',
  members: 'other members',
  incoming: 'dialled this node',
}

/** `member, online, stored`: which lists of the node have it. */
export function listsInWords({ isMember, isOnline, isStored }: PeerRow): string {
  const words = [isMember ? 'member' : 'stranger', isOnline && 'online', isStored && 'stored']
  return words.filter((word) => word !== false).join(', ')
}
