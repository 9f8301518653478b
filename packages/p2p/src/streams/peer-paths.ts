/** Being connected to one peer: making it so, knowing what it speaks, and hearing of every change. */
import type { Connection, Libp2p } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { MeshError, type PeerId, tryParsePeerId } from '@mesh/core'
import type { ConnectionChecks } from '../libp2p/liveness-checks.ts'
import { isInDoubt } from '../libp2p/liveness.ts'
import { Listeners } from '../listeners.ts'
import type { P2pNode } from '../p2p-node.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import type { MemberStreams } from './member-streams.ts'

export interface PeerPaths extends Pick<P2pNode, 'connect' | 'speaks' | 'onPath' | 'onDoubt'> {
  stop(): void
}

export function createPeerPaths(components: {
  readonly libp2p: Libp2p
  readonly streams: Pick<MemberStreams, 'connection' | 'inTime'>
  readonly spoken: SpokenProtocols
  readonly checks: Pick<ConnectionChecks, 'onDoubt'>
}): PeerPaths {
  const { libp2p, streams, spoken, checks } = components
  const listeners = new Listeners<[peer: PeerId]>()
  const onChange = ({ detail }: CustomEvent<Connection>) => changed(detail)
  const stopDoubts = checks.onDoubt((connection) => changed(connection))

  function changed({ remotePeer }: Connection): void {
    const peer = tryParsePeerId(remotePeer.toString())
    if (peer !== undefined) listeners.tell(peer)
  }

  libp2p.addEventListener('connection:open', onChange)
  libp2p.addEventListener('connection:close', onChange)

  /** Waits until identify has told what the peer speaks. */
  function untilIdentified(peer: PeerId, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (act: () => void) => {
        stopSpoken()
        stopPaths()
        signal.removeEventListener('abort', check)
        act()
      }
      const check = () => {
        if (spoken.of(peer) !== undefined) finish(resolve)
        else if (signal.aborted) finish(() => reject(signal.reason))
        else if (libp2p.getConnections(peerIdFromString(peer)).length === 0) finish(() => reject(gone(peer)))
      }
      const stopSpoken = spoken.onChange(check)
      const stopPaths = listeners.add(check)
      signal.addEventListener('abort', check)
      check()
    })
  }

  return {
    onPath: listeners.add,
    onDoubt: (listener) =>
      checks.onDoubt((connection) => {
        const peer = tryParsePeerId(connection.remotePeer.toString())
        if (peer !== undefined && isInDoubt(connection)) listener(peer)
      }),
    speaks: (peer, protocol) => spoken.of(peer)?.has(protocol),
    connect: (peer, outer) =>
      streams.inTime(peer, outer, async (signal) => {
        await streams.connection(peer, { relayed: true }, signal)
        await untilIdentified(peer, signal)
      }),
    stop() {
      libp2p.removeEventListener('connection:open', onChange)
      libp2p.removeEventListener('connection:close', onChange)
      stopDoubts()
      listeners.clear()
    },
  }
}

const gone = (peer: PeerId) =>
  new MeshError('p2p.unreachable', 'the connection closed before the peer said what it speaks', {
    details: { peer },
  })
