/** Peers as this node reaches them over libp2p: measured, added, forgotten, and what members tell of their paths. */
import type { PathReportView, PeerPingView } from '@mesh/api-contract'
import { type Clock, MeshError, type PeerId } from '@mesh/core'
import { Problem } from '../messages/problem.ts'
import type { PathReport } from '../path-report.ts'
import type { NetworkPort } from '../ports.ts'
import { bodyOf, listParts } from '../views/answer-parts.ts'
import type { Scene } from '../views/members.ts'
import { ping } from './find-and-ping.ts'
import { findPeer, isSelf } from './find-peer.ts'
import { type HandlersOf, prepared } from './handler.ts'

export interface PeersComponents {
  readonly scene: () => Scene
  readonly clock: Clock
}

/** A scene with its network. */
type Joined = Scene & { readonly network: NetworkPort }

export function createPeers({
  scene,
  clock,
}: PeersComponents): HandlersOf<'pingPeer' | 'addPeer' | 'forgetPeer' | 'listPaths'> {
  const joined = async (): Promise<Joined> => {
    await scene().machines.caughtUp()
    const { network, ...rest } = scene()
    if (network === undefined) throw new Problem('node.not_ready')
    return { ...rest, network }
  }
  return {
    async pingPeer({ peer }) {
      const now = await joined()
      return await measure(findPeer(peer, now), now, clock)
    },
    async addPeer({ body }) {
      const now = await joined()
      const peer = addPeer(body.Address, now.network)
      if (peer === now.self) throw isSelf(body.Address)
      return await measure(peer, now, clock)
    },
    async forgetPeer({ peer: asked }) {
      const now = await joined()
      const peer = findPeer(asked, now)
      if (!(await now.network.forget(peer))) throw new Problem('peer.unknown')
      return { State: 'Removed' }
    },
    listPaths() {
      const reports = scene().network?.pathReports() ?? []
      return prepared({ body: bodyOf(() => listParts(reports, reportView)) })
    },
  }
}

/** @throws Problem `peer.unreachable` */
async function measure(peer: PeerId, { network, machines }: Joined, clock: Clock): Promise<PeerPingView> {
  const probe = await ping('peer.unreachable', (signal) => network.probe(peer, signal), clock)
  const known = network.peers().find(({ id }) => id === peer)
  const record = machines.of(peer)?.record
  return {
    PeerID: peer,
    Name: record?.Hostname || known?.name || '',
    Member: known?.member === true,
    Path: probe.path,
    Transport: probe.transport ?? null,
    RoundTripMs: probe.rttMs,
  }
}

/** @throws Problem `peer.bad_address` */
function addPeer(address: string, network: NetworkPort): PeerId {
  try {
    return network.addPeer(address)
  } catch (error) {
    if (!(error instanceof MeshError)) throw error
    throw new Problem('peer.bad_address', error.message, { cause: error })
  }
}

function reportView({ peer, state, ageMs, paths, more }: PathReport): PathReportView {
  return {
    PeerID: peer,
    State: state,
    AgeMs: ageMs === undefined ? null : Math.round(ageMs),
    Paths: paths.map(({ peer: id, path, relay, rttMs, bytesPerSecond }) => ({
      PeerID: id,
      Path: path,
      Relay: relay ?? null,
      RoundTripMs: rttMs ?? null,
      BytesPerSecond: bytesPerSecond,
    })),
    More: more,
  }
}
