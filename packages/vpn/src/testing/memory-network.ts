/** Members in one process: who reaches whom how is told, streams and channels are those of `memory-stream.ts`. */
import { MeshError, type PeerId } from '@mesh/core'
import type { ByteStream, VpnChannel, VpnNetwork } from '../ports.ts'
import { createMemoryChannel, createStreamPair, type StreamPair } from './memory-stream.ts'

type MemoryPath = 'direct' | 'relayed'

type MemberNetwork = Pick<
  VpnNetwork,
  'channels' | 'streams' | 'speaks' | 'connect' | 'pathOf' | 'onPath' | 'ping'
>

interface OpenedStream {
  readonly from: PeerId
  readonly to: PeerId
  readonly protocol: string
  readonly pair: StreamPair
}

export interface MemoryMember {
  readonly network: MemberNetwork
  /** As if it had never served these. */
  unhandle(...protocols: string[]): void
}

export interface MemoryNetwork {
  /** A member; of one that restarts the old one's handlers are gone. */
  join(peer: PeerId): MemoryMember
  /** How `connect` reaches from one to the other, from now on; undefined: not at all. Default: direct. */
  setReach(a: PeerId, b: PeerId, path: MemoryPath | undefined): void
  /** Now; or changes the connection there is. Streams that are open stay as they are. */
  connect(a: PeerId, b: PeerId, path?: MemoryPath): void
  /** Breaks the connection with its streams. */
  disconnect(a: PeerId, b: PeerId): void
  /** Every stream that was opened, the oldest first. */
  readonly opened: readonly OpenedStream[]
  /** Connections that were made by `connect` of a member. */
  readonly dials: number
  /** Dials that were under way at a time, the most there ever were. */
  readonly mostDials: number
}

interface Handler {
  readonly maxPerPeer: number
  readonly relayed: boolean
  readonly serve: (stream: ByteStream) => void
}

interface Member {
  readonly peer: PeerId
  readonly handlers: Map<string, Handler>
  readonly onPath: Set<(peer: PeerId) => void>
  readonly onPeerWith: Map<string, Set<(peer: PeerId, present: boolean) => void>>
}

export function createMemoryNetwork(): MemoryNetwork {
  const members = new Map<PeerId, Member>()
  const reach = new Map<string, MemoryPath | undefined>()
  const connections = new Map<string, MemoryPath>()
  const opened: OpenedStream[] = []
  let dials = 0
  let dialling = 0
  let mostDials = 0

  const pathBetween = (a: PeerId, b: PeerId) => connections.get(pairOf(a, b))
  const speaks = (from: PeerId, to: PeerId, protocol: string) =>
    pathBetween(from, to) === undefined ? undefined : members.get(to)?.handlers.has(protocol) === true

  function tell(of: PeerId, listener: (member: Member, other: PeerId) => void): void {
    for (const other of members.keys()) {
      const member = members.get(other)
      if (member !== undefined && pathBetween(of, other) !== undefined) listener(member, of)
    }
  }

  function connect(a: PeerId, b: PeerId, path: MemoryPath = 'direct'): void {
    const before = pathBetween(a, b)
    connections.set(pairOf(a, b), path)
    for (const [of, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const member = members.get(of)
      for (const listener of member?.onPath ?? []) listener(other)
      if (before !== undefined) continue
      for (const [protocol, listeners] of member?.onPeerWith ?? []) {
        if (speaks(of, other, protocol)) for (const listener of listeners) listener(other, true)
      }
    }
  }

  function disconnect(a: PeerId, b: PeerId): void {
    if (pathBetween(a, b) === undefined) return
    const spoken = new Map([a, b].map((peer) => [peer, new Set(members.get(peer)?.handlers.keys())] as const))
    connections.delete(pairOf(a, b))
    for (const { from, to, pair } of opened) if (pairOf(from, to) === pairOf(a, b)) pair.break()
    for (const [of, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const member = members.get(of)
      for (const [protocol, listeners] of member?.onPeerWith ?? []) {
        if (spoken.get(other)?.has(protocol) === true)
          for (const listener of listeners) listener(other, false)
      }
      for (const listener of member?.onPath ?? []) listener(other)
    }
  }

  async function dial(from: PeerId, to: PeerId, signal?: AbortSignal): Promise<void> {
    dialling++
    mostDials = Math.max(mostDials, dialling)
    try {
      await turn()
      signal?.throwIfAborted()
      if (pathBetween(from, to) !== undefined) return
      const key = pairOf(from, to)
      const path = reach.has(key) ? reach.get(key) : 'direct'
      if (path === undefined || !members.has(to)) {
        throw new MeshError('p2p.unreachable', 'the peer cannot be reached')
      }
      dials++
      connect(from, to, path)
    } finally {
      dialling--
    }
  }

  async function open(from: PeerId, to: PeerId, protocol: string, relayed: boolean, signal?: AbortSignal) {
    await dial(from, to, signal)
    const path = pathBetween(from, to)
    const handler = members.get(to)?.handlers.get(protocol)
    if (handler === undefined) throw new MeshError('p2p.unsupported', 'the peer does not speak the protocol')
    if (path === undefined || (path === 'relayed' && !(relayed && handler.relayed))) {
      throw new MeshError('p2p.unreachable', 'there is no direct connection')
    }
    const pair = createStreamPair({ near: from, far: to }, path === 'direct')
    const others = opened.filter(
      (one) => one.from === from && one.to === to && one.protocol === protocol && !one.pair.ended,
    )
    opened.push({ from, to, protocol, pair })
    if (others.length >= handler.maxPerPeer) pair.far.abort(new Error('too many streams'))
    else setImmediate(() => handler.serve(pair.far))
    return pair.near
  }

  function join(peer: PeerId): MemoryMember {
    const member: Member = { peer, handlers: new Map(), onPath: new Set(), onPeerWith: new Map() }
    members.set(peer, member)

    function handle(protocol: string, handler: Handler): void {
      member.handlers.set(protocol, handler)
      tell(peer, (other) => {
        for (const listener of other.onPeerWith.get(protocol) ?? []) listener(peer, true)
      })
    }

    const network: MemberNetwork = {
      channels: {
        async handle(protocol, { maxPerPeer = 8 }, handler) {
          const serve = (stream: ByteStream) => {
            const channel: VpnChannel = createMemoryChannel(stream)
            handler(channel).then(
              () => channel.close(),
              (error: Error) => channel.abort(error),
            )
          }
          handle(protocol, { maxPerPeer, relayed: true, serve })
        },
        async open(to, protocol, { signal }) {
          return createMemoryChannel(await open(peer, to, protocol, true, signal))
        },
        peersWith: (protocol) =>
          [...members.keys()].filter((other) => other !== peer && speaks(peer, other, protocol) === true),
        onPeerWith(protocol, listener) {
          const listeners = member.onPeerWith.get(protocol) ?? new Set()
          member.onPeerWith.set(protocol, listeners.add(listener))
          return () => void listeners.delete(listener)
        },
      },
      streams: {
        async handle(protocol, { maxPerPeer, relayed }, serve) {
          handle(protocol, { maxPerPeer, relayed, serve })
        },
        open: (to, protocol, { relayed, signal }) => open(peer, to, protocol, relayed, signal),
      },
      speaks: (other, protocol) => speaks(peer, other, protocol),
      connect: (to, signal) => dial(peer, to, signal),
      pathOf(other) {
        const path = pathBetween(peer, other)
        return path === undefined ? undefined : { path, transport: 'memory', rttMs: 1 }
      },
      onPath(listener) {
        member.onPath.add(listener)
        return () => void member.onPath.delete(listener)
      },
      async ping(other) {
        if (pathBetween(peer, other) === undefined) throw new MeshError('p2p.unreachable', 'not connected')
        return 1
      },
    }
    return {
      network,
      unhandle(...protocols) {
        for (const protocol of protocols) member.handlers.delete(protocol)
      },
    }
  }

  return {
    join,
    setReach: (a, b, path) => void reach.set(pairOf(a, b), path),
    connect,
    disconnect,
    opened,
    get dials() {
      return dials
    },
    get mostDials() {
      return mostDials
    },
  }
}

function pairOf(a: PeerId, b: PeerId): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
