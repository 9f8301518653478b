/**
 * Members that come and go, as people want to see it: those of a moment in one line, by name. Who is connected but no
 * member (peers of the public DHT, relays) is told at debug only, and so is each connection.
 */
import type { Clock, Logger, PeerId } from '@mesh/core'
import type { P2pNode } from '@mesh/p2p'

/** Arrivals within this time are one line; names come with the ledger, which takes about as long. */
const GATHER_MS = 2_000
/** A connected peer proves that it is a member at once, or is heard to be one within this many looks. */
const MAX_LOOKS = 30
/** Peers that wait to be told of; beyond, they are told at debug only. */
const MAX_WAITING = 1_000

export interface MemberLogComponents {
  readonly p2p: Pick<P2pNode, 'subscribe' | 'peer'>
  /** Names of these peers, by peer id. */
  readonly names: (peers: ReadonlySet<string>) => ReadonlyMap<string, string>
  readonly clock: Clock
  readonly log: Logger
}

/** The returned function ends it. */
export function logMembers({ p2p, names, clock, log }: MemberLogComponents): () => void {
  /** Looks left, by peer. */
  const arrived = new Map<string, number>()
  const left = new Set<string>()
  const told = new Set<string>()
  let cancel: (() => void) | undefined

  const tell = (message: string, peers: readonly string[]) => {
    if (peers.length === 0) return
    const known = names(new Set(peers))
    log.info(message, { peers, names: peers.map((peer) => known.get(peer) ?? peer) })
  }
  const look = () => {
    cancel = undefined
    const found = [...arrived.keys()].filter((peer) => p2p.peer(peer as PeerId)?.member === true)
    for (const peer of found) {
      arrived.delete(peer)
      told.add(peer)
    }
    for (const [peer, looks] of arrived) {
      if (looks > 1) arrived.set(peer, looks - 1)
      else arrived.delete(peer)
    }
    tell('members found', found)
    tell('members lost', [...left])
    for (const peer of left) told.delete(peer)
    left.clear()
    if (arrived.size > 0) lookSoon()
  }
  const lookSoon = () => void (cancel ??= clock.after(GATHER_MS, look))
  const unsubscribe = p2p.subscribe((event) => {
    if (event.type === 'refused') {
      const { code, peer, protocol } = event
      log.debug('refused', { code, peer, protocol })
      return
    }
    const { peer } = event
    if (event.type === 'peer.connected') {
      log.debug('peer connected', { peer, path: event.path })
      // one that came back at once was never away
      if (!left.delete(peer) && !told.has(peer) && arrived.size < MAX_WAITING) arrived.set(peer, MAX_LOOKS)
    } else {
      log.debug('peer disconnected', { peer })
      arrived.delete(peer)
      if (told.has(peer)) left.add(peer)
    }
    if (arrived.size + left.size > 0) lookSoon()
  })
  return () => {
    unsubscribe()
    cancel?.()
  }
}
