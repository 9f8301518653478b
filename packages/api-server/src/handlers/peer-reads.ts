/** How one peer is reached now, over libp2p; found by its peer id, its name or its address in the VPN. */
import type { PeerPingView } from '@mesh/api-contract'
import { type Clock, parsePeerId, tryParseIp, tryParsePeerId } from '@mesh/core'
import { Problem } from '../messages/problem.ts'
import { isSameName, type Scene } from '../views/members.ts'
import { MAX_NAMED, ping, quote } from './find-and-ping.ts'
import type { HandlersOf } from './handler.ts'

export interface PeerReadsComponents {
  readonly scene: () => Scene
  readonly clock: Clock
}

export function createPeerReads({ scene, clock }: PeerReadsComponents): HandlersOf<'pingPeer'> {
  return {
    async pingPeer({ peer: asked }): Promise<PeerPingView> {
      await scene().machines.caughtUp()
      const { network, ...rest } = scene()
      if (network === undefined) throw new Problem('node.not_ready')
      const id = findPeer(asked, { ...rest, network })
      const probe = await ping('peer.unreachable', (signal) => network.probe(parsePeerId(id), signal), clock)
      const known = network.peers().find((peer) => peer.id === id)
      const record = rest.machines.of(id)?.record
      return {
        PeerID: id,
        Name: record?.Hostname || known?.name || '',
        Member: known?.member === true,
        Path: probe.path,
        Transport: probe.transport ?? null,
        RoundTripMs: probe.rttMs,
      }
    },
  }
}

/** @throws Problem `peer.unknown`, `peer.ambiguous` */
function findPeer(asked: string, { machines: known, self, network }: Scene): string {
  const isKnown = network?.peers().some(({ id }) => id === asked) === true
  const ip = tryParseIp(asked)
  const machines = [...known.all()]
    .filter(({ record, addresses }) =>
      ip === undefined
        ? isSameName(record.Hostname, asked)
        : addresses.some((address) => tryParseIp(address) === ip),
    )
    .map(({ record }) => record.PeerID)
  // nodes without an interface have no machine, and tell their names to members
  const others =
    ip === undefined ? (network?.peers() ?? []).filter(({ name }) => isSameName(name ?? '', asked)) : []
  const named = [...machines, ...others.map(({ id }) => id)]
  // any peer id is worth a try: it may be found though nothing was heard of it
  const isId = tryParsePeerId(asked) !== undefined
  const ids = new Set(isKnown || isId ? [asked] : named)
  if (ids.delete(self) && ids.size === 0) {
    throw new Problem('peer.unknown', `${asked.slice(0, 80)} is this node itself`)
  }
  const [id, second] = ids
  if (id === undefined) throw new Problem('peer.unknown', `no peer has the name ${quote(asked)}`)
  if (second === undefined) return id
  const which = [...ids].slice(0, MAX_NAMED).join(', ')
  throw new Problem('peer.ambiguous', `${ids.size} peers are called ${quote(asked)}: ${which}`)
}
