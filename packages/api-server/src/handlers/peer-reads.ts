/** How one peer is reached now, over libp2p; found by its peer id, its name or its address in the VPN. */
import { isErrorCode, type PeerPingView } from '@mesh/api-contract'
import { type Clock, MeshError, parsePeerId, tryParseIp, tryParsePeerId } from '@mesh/core'
import { Problem } from '../messages/problem.ts'
import { PING_TIMEOUT_MS } from '../limits.ts'
import type { NetworkPort, PeerProbe } from '../ports.ts'
import { isSameName, type Scene } from '../views/members.ts'
import type { HandlersOf } from './handler.ts'

export interface PeerReadsComponents {
  readonly scene: () => Scene
  readonly clock: Clock
}

/** How many of the peers that share a name an answer lists. */
const MAX_NAMED = 5

export function createPeerReads({ scene, clock }: PeerReadsComponents): HandlersOf<'pingPeer'> {
  return {
    async pingPeer({ peer: asked }): Promise<PeerPingView> {
      await scene().machines.caughtUp()
      const { network, ...rest } = scene()
      if (network === undefined) throw new Problem('node.not_ready')
      const id = findPeer(asked, { ...rest, network })
      const probe = await measure(network, id, clock)
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

async function measure(network: NetworkPort, id: string, clock: Clock): Promise<PeerProbe> {
  const limit = new AbortController()
  const late = new Problem('peer.unreachable', `no answer within ${PING_TIMEOUT_MS / 1_000} s`)
  const cancel = clock.after(PING_TIMEOUT_MS, () => limit.abort(late))
  try {
    return await network.probe(parsePeerId(id), limit.signal)
  } catch (error) {
    if (!(error instanceof MeshError) || isErrorCode(error.code)) throw error
    const { message, hint } = error
    throw new Problem('peer.unreachable', message, { cause: error, ...(hint !== undefined && { hint }) })
  } finally {
    cancel()
  }
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 80))
}
