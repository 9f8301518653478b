/** Finds the peer that a person means: by its peer id, its name or its address in the VPN. */
import { parsePeerId, type PeerId, tryParseIp, tryParsePeerId } from '@mesh/core'
import { Problem } from '../messages/problem.ts'
import { isSameName, type Scene } from '../views/members.ts'
import { MAX_NAMED, quote } from './find-and-ping.ts'

/** @throws Problem `peer.unknown`, `peer.ambiguous` */
export function findPeer(asked: string, { machines: known, self, network }: Scene): PeerId {
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
  if (ids.delete(self) && ids.size === 0) throw isSelf(asked)
  const [id, second] = ids
  if (id === undefined) throw new Problem('peer.unknown', `no peer has the name ${quote(asked)}`)
  if (second === undefined) return parsePeerId(id)
  const which = [...ids].slice(0, MAX_NAMED).join(', ')
  throw new Problem('peer.ambiguous', `${ids.size} peers are called ${quote(asked)}: ${which}`)
}

export function isSelf(asked: string): Problem {
  return new Problem('peer.unknown', `${asked.slice(0, 80)} is this node itself`)
}
