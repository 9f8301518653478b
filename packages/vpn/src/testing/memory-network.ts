/** Members in one process: a test says who reaches whom; streams and channels are those of `memory-stream.ts`. */
import { MeshError, type PeerId } from '@mesh/core'
import type { ByteStream, PeerPath, VpnChannel, VpnChannels, VpnNetwork } from '../ports.ts'
import { createMemoryChannel, createStreamPair, type StreamPair } from './memory-stream.ts'

type MemoryPath = 'direct' | 'relayed'

type MemberNetwork = Pick<
  VpnNetwork,
  'channels' | 'streams' | 'speaks' | 'connect' | 'pathOf' | 'onPath' | 'onDoubt' | 'ping'
>

interface OpenedStream {
  readonly from: PeerId
  readonly to: PeerId
  readonly protocol: string
  readonly pair: StreamPair
}

export interface MemoryMember {
  readonly network: MemberNetwork
  /** Takes protocols back, as if the member had never served them. */
  unhandle(...protocols: string[]): void
}

export interface MemoryNetwork {
  /** Adds a member. One that joins again has restarted: its handlers and listeners are gone. */
  join(peer: PeerId): MemoryMember
  /** Sets how a member's `connect` reaches the other from now on: directly unless set; undefined: not at all. */
  setReach(a: PeerId, b: PeerId, path: MemoryPath | undefined): void
  /** Connects two members, or changes the connection there is. Streams that are open stay as they are. */
  connect(a: PeerId, b: PeerId, path?: MemoryPath): void
  /** The connection to the other is silent where the first asked it; open streams stay, and new ones pass. */
  doubt(of: PeerId, other: PeerId): void
  /** Breaks the connection with its streams. */
  disconnect(a: PeerId, b: PeerId): void
  /** Every stream that was opened, the oldest first. */
  readonly opened: readonly OpenedStream[]
  /** Number of connections that members' `connect` made. */
  readonly dials: number
  /** The greatest number of dials that ran at a time. */
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
  readonly onDoubt: Set<(peer: PeerId) => void>
  readonly onPeerWith: Map<string, Set<(peer: PeerId, present: boolean) => void>>
}

interface OpenOptions {
  readonly protocol: string
  readonly relayed: boolean
  readonly signal?: AbortSignal | undefined
}

/** @param addressOf what a member's channels count under; by default each has an address of its own */
export function createMemoryNetwork(
  addressOf: (peer: PeerId) => string = (peer) => `address of ${peer}`,
): MemoryNetwork {
  return new JoinedMembers(addressOf)
}

class JoinedMembers implements MemoryNetwork {
  readonly addressOf: (peer: PeerId) => string
  readonly opened: OpenedStream[] = []
  dials = 0
  mostDials = 0
  #dialling = 0
  readonly #members = new Map<PeerId, Member>()
  readonly #reach = new Map<string, MemoryPath | undefined>()
  readonly #connections = new Map<string, MemoryPath>()

  constructor(addressOf: (peer: PeerId) => string) {
    this.addressOf = addressOf
  }

  join(peer: PeerId): MemoryMember {
    const handlers = new Map<string, Handler>()
    this.#members.set(peer, {
      peer,
      handlers,
      onPath: new Set(),
      onDoubt: new Set(),
      onPeerWith: new Map(),
    })
    return {
      network: createMemberNetwork(peer, this),
      unhandle(...protocols) {
        for (const protocol of protocols) handlers.delete(protocol)
      },
    }
  }

  setReach(a: PeerId, b: PeerId, path: MemoryPath | undefined): void {
    this.#reach.set(pairOf(a, b), path)
  }

  connect(a: PeerId, b: PeerId, path: MemoryPath = 'direct'): void {
    const before = this.pathBetween(a, b)
    this.#connections.set(pairOf(a, b), path)
    for (const [of, other] of bothWays(a, b)) {
      const member = this.#members.get(of)
      for (const listener of member?.onPath ?? []) listener(other)
      if (before !== undefined) continue
      for (const [protocol, listeners] of member?.onPeerWith ?? []) {
        if (this.speaks(of, other, protocol)) for (const listener of listeners) listener(other, true)
      }
    }
  }

  doubt(of: PeerId, other: PeerId): void {
    for (const listener of this.#memberOf(of).onDoubt) listener(other)
  }

  disconnect(a: PeerId, b: PeerId): void {
    if (this.pathBetween(a, b) === undefined) return
    const spoken = new Map(
      [a, b].map((peer) => [peer, new Set(this.#members.get(peer)?.handlers.keys())] as const),
    )
    this.#connections.delete(pairOf(a, b))
    for (const { from, to, pair } of this.opened) if (pairOf(from, to) === pairOf(a, b)) pair.break()
    for (const [of, other] of bothWays(a, b)) {
      const member = this.#members.get(of)
      for (const [protocol, listeners] of member?.onPeerWith ?? []) {
        if (spoken.get(other)?.has(protocol) !== true) continue
        for (const listener of listeners) listener(other, false)
      }
      for (const listener of member?.onPath ?? []) listener(other)
    }
  }

  pathBetween(a: PeerId, b: PeerId): MemoryPath | undefined {
    return this.#connections.get(pairOf(a, b))
  }

  speaks(from: PeerId, to: PeerId, protocol: string): boolean | undefined {
    if (this.pathBetween(from, to) === undefined) return undefined
    return this.#members.get(to)?.handlers.has(protocol) === true
  }

  /** Peers that `from` is connected to and that speak the protocol. */
  peersWith(from: PeerId, protocol: string): readonly PeerId[] {
    return [...this.#members.keys()].filter(
      (other) => other !== from && this.speaks(from, other, protocol) === true,
    )
  }

  listeners(peer: PeerId): Pick<Member, 'onPath' | 'onDoubt' | 'onPeerWith'> {
    return this.#memberOf(peer)
  }

  handle(peer: PeerId, protocol: string, handler: Handler): void {
    this.#memberOf(peer).handlers.set(protocol, handler)
    for (const other of this.#members.values()) {
      if (this.pathBetween(peer, other.peer) === undefined) continue
      for (const listener of other.onPeerWith.get(protocol) ?? []) listener(peer, true)
    }
  }

  async dial(from: PeerId, to: PeerId, signal?: AbortSignal): Promise<void> {
    this.#dialling++
    this.mostDials = Math.max(this.mostDials, this.#dialling)
    try {
      await turn()
      signal?.throwIfAborted()
      if (this.pathBetween(from, to) !== undefined) return
      const key = pairOf(from, to)
      const path = this.#reach.has(key) ? this.#reach.get(key) : 'direct'
      if (path === undefined || !this.#members.has(to)) {
        throw new MeshError('p2p.unreachable', 'the peer cannot be reached')
      }
      this.dials++
      this.connect(from, to, path)
    } finally {
      this.#dialling--
    }
  }

  async open(from: PeerId, to: PeerId, { protocol, relayed, signal }: OpenOptions): Promise<ByteStream> {
    await this.dial(from, to, signal)
    const path = this.pathBetween(from, to)
    const handler = this.#members.get(to)?.handlers.get(protocol)
    if (handler === undefined) throw new MeshError('p2p.unsupported', 'the peer does not speak the protocol')
    if (path === undefined || (path === 'relayed' && !(relayed && handler.relayed))) {
      throw new MeshError('p2p.unreachable', 'there is no direct connection')
    }
    const pair = createStreamPair({ near: from, far: to }, path === 'direct')
    const others = this.opened.filter(
      (one) => one.from === from && one.to === to && one.protocol === protocol && !one.pair.ended,
    )
    this.opened.push({ from, to, protocol, pair })
    if (others.length >= handler.maxPerPeer) pair.far.abort(new Error('too many streams'))
    else setImmediate(() => handler.serve(pair.far))
    return pair.near
  }

  #memberOf(peer: PeerId): Member {
    const member = this.#members.get(peer)
    if (member === undefined) throw new Error(`${peer} has not joined`)
    return member
  }
}

/** The network as one member sees it. */
function createMemberNetwork(self: PeerId, all: JoinedMembers): MemberNetwork {
  const pathOf = (other: PeerId): PeerPath | undefined => {
    const path = all.pathBetween(self, other)
    return path === undefined ? undefined : { path, transport: 'memory', rttMs: 1 }
  }
  return {
    channels: createMemberChannels(self, all),
    streams: {
      async handle(protocol, { maxPerPeer, relayed }, serve) {
        all.handle(self, protocol, { maxPerPeer, relayed, serve })
      },
      open: (to, protocol, { relayed, signal }) => all.open(self, to, { protocol, relayed, signal }),
    },
    speaks: (other, protocol) => all.speaks(self, other, protocol),
    connect: (to, signal) => all.dial(self, to, signal),
    pathOf,
    onPath(listener) {
      const { onPath } = all.listeners(self)
      onPath.add(listener)
      return () => void onPath.delete(listener)
    },
    onDoubt(listener) {
      const { onDoubt } = all.listeners(self)
      onDoubt.add(listener)
      return () => void onDoubt.delete(listener)
    },
    async ping(other) {
      if (pathOf(other) === undefined) throw new MeshError('p2p.unreachable', 'not connected')
      return 1
    },
  }
}

function createMemberChannels(self: PeerId, all: JoinedMembers): VpnChannels {
  return {
    async handle(protocol, { maxPerPeer = 8 }, handler) {
      all.handle(self, protocol, { maxPerPeer, relayed: true, serve: serveChannel(handler, all) })
    },
    async open(to, protocol, { signal }) {
      const stream = await all.open(self, to, { protocol, relayed: true, signal })
      return createMemoryChannel(stream, all.addressOf(to))
    },
    peersWith: (protocol) => all.peersWith(self, protocol),
    onPeerWith(protocol, listener) {
      const { onPeerWith } = all.listeners(self)
      const listeners = onPeerWith.get(protocol) ?? new Set()
      onPeerWith.set(protocol, listeners.add(listener))
      return () => void listeners.delete(listener)
    },
  }
}

/** Serves a stream as a channel, which ends with its handler. */
function serveChannel(
  handler: (channel: VpnChannel) => Promise<void>,
  { addressOf }: JoinedMembers,
): (stream: ByteStream) => void {
  return (stream) => {
    const channel = createMemoryChannel(stream, addressOf(stream.peer))
    handler(channel).then(
      () => channel.close(),
      (error: Error) => channel.abort(error),
    )
  }
}

function bothWays(a: PeerId, b: PeerId): readonly (readonly [PeerId, PeerId])[] {
  return [
    [a, b],
    [b, a],
  ]
}

function pairOf(a: PeerId, b: PeerId): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
