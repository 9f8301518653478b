/** A network in virtual time: gossip to everybody in reach, channels between neighbours, and all that goes wrong. */
import type { Clock, PeerId, Random } from '@mesh/core'
import type { ReplicationChannel, ReplicationChannels, ReplicationTopic, TopicMessage } from '../src/ports.ts'

export interface SimNetworkInit {
  /** Of one gossip message to one receiver, 0 to 1. */
  readonly loss?: number
  readonly duplication?: number
  /** Delays are drawn from here, so messages overtake each other. */
  readonly latencyMs?: readonly [number, number]
  /** Whether two that are connected hear each other on the topic, as they do by default. */
  readonly hears?: (a: PeerId, b: PeerId) => boolean
}

export interface SimLink {
  readonly topic: ReplicationTopic
  readonly channels: ReplicationChannels
  /** As if the process was killed: channels break, nothing is delivered any more. */
  unplug(): void
}

export interface SimNetwork {
  /** @param neighbours peers to hold connections with, as far as they are there; all by default */
  join(self: PeerId, neighbours?: (peer: PeerId) => boolean): SimLink
  /** Peers in different groups do not reach each other; undefined heals. */
  partition(groupOf: ((peer: PeerId) => number) | undefined): void
  /** A message that nobody in particular publishes. */
  inject(author: PeerId, plaintext: Uint8Array): void
  /** Every gossip message, before loss. */
  onGossip(listener: (author: PeerId, plaintext: Uint8Array) => void): void
  readonly counts: {
    published: number
    delivered: number
    lost: number
    gossipBytes: number
    channelBytes: number
    channels: number
  }
  /** Messages loss and duplication off, for the end of a simulation. */
  calm(): void
}

interface Member {
  readonly self: PeerId
  readonly isNeighbour: (peer: PeerId) => boolean
  readonly listeners: Set<(message: TopicMessage) => unknown>
  readonly handlers: Map<string, (channel: ReplicationChannel) => Promise<void>>
  readonly watchers: Set<{ protocol: string; listener: (peer: PeerId, present: boolean) => void }>
  readonly open: Set<SimChannel>
  connected: Set<PeerId>
}

export function createSimNetwork(
  init: SimNetworkInit,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): SimNetwork {
  let { loss = 0, duplication = 0 } = init
  const { hears = () => true } = init
  const [least, most] = init.latencyMs ?? [5, 60]
  const members = new Map<PeerId, Member>()
  const eavesdroppers: ((author: PeerId, plaintext: Uint8Array) => void)[] = []
  let groupOf: ((peer: PeerId) => number) | undefined
  const counts = { published: 0, delivered: 0, lost: 0, gossipBytes: 0, channelBytes: 0, channels: 0 }

  const latency = () => least + random.float() * (most - least)
  const inReach = (a: PeerId, b: PeerId) => groupOf === undefined || groupOf(a) === groupOf(b)
  const areConnected = (a: Member, b: Member) =>
    a !== b && inReach(a.self, b.self) && (a.isNeighbour(b.self) || b.isNeighbour(a.self))

  /** Tells everybody who came and went, and breaks the channels of those that went. */
  const rewire = () => {
    for (const member of members.values()) {
      const now = new Set<PeerId>()
      for (const other of members.values()) if (areConnected(member, other)) now.add(other.self)
      const before = member.connected
      member.connected = now
      for (const channel of member.open) if (!now.has(channel.peer)) channel.break(new Error('link lost'))
      notify(
        member,
        [...before].filter((peer) => !now.has(peer)),
        false,
      )
      notify(
        member,
        [...now].filter((peer) => !before.has(peer)),
        true,
      )
    }
  }
  const speaks = (peer: PeerId, protocol: string) => members.get(peer)?.handlers.has(protocol) === true
  const notify = (member: Member, peers: readonly PeerId[], present: boolean) => {
    for (const peer of peers) {
      for (const { protocol, listener } of member.watchers) {
        if (!present || speaks(peer, protocol)) listener(peer, present)
      }
    }
  }
  const gossip = (author: PeerId, plaintext: Uint8Array) => {
    counts.published++
    for (const hear of eavesdroppers) hear(author, plaintext)
    let receivers = 0
    for (const member of members.values()) {
      if (member.self === author || !inReach(author, member.self) || !hears(author, member.self)) continue
      receivers++
      const copies = random.float() < loss ? 0 : random.float() < duplication ? 2 : 1
      if (copies === 0) counts.lost++
      for (let copy = 0; copy < copies; copy++)
        clock.after(latency(), () => deliver(member, author, plaintext))
    }
    return receivers
  }
  const deliver = (member: Member, author: PeerId, plaintext: Uint8Array) => {
    if (members.get(member.self) !== member) return
    counts.delivered++
    counts.gossipBytes += plaintext.length
    for (const listener of member.listeners) listener({ author, plaintext, from: author })
  }
  const open = async (from: Member, peer: PeerId, protocol: string): Promise<ReplicationChannel> => {
    const to = members.get(peer)
    const handler = to?.handlers.get(protocol)
    if (to === undefined || handler === undefined || !from.connected.has(peer)) throw new Error('unreachable')
    counts.channels++
    const near = createSimChannel(peer, { clock, latency, from, counts })
    const far = createSimChannel(from.self, { clock, latency, from: to, counts })
    near.other = far
    far.other = near
    clock.after(latency(), () => void handler(far).catch(() => {}))
    return near
  }
  const channelsOf = (member: Member): ReplicationChannels => ({
    async handle(protocol, _options, handler) {
      member.handlers.set(protocol, handler)
      for (const other of members.values())
        if (other.connected.has(member.self)) notify(other, [member.self], true)
    },
    open: (peer, protocol) => open(member, peer, protocol),
    peersWith: (protocol) => [...member.connected].filter((peer) => speaks(peer, protocol)),
    onPeerWith(protocol, listener) {
      const watcher = { protocol, listener }
      member.watchers.add(watcher)
      return () => member.watchers.delete(watcher)
    },
  })
  return {
    counts,
    join(self, isNeighbour = () => true) {
      const member: Member = {
        self,
        isNeighbour,
        listeners: new Set(),
        handlers: new Map(),
        watchers: new Set(),
        open: new Set(),
        connected: new Set(),
      }
      members.set(self, member)
      rewire()
      const topic: ReplicationTopic = {
        publish: async (plaintext) => gossip(self, plaintext),
        onMessage(listener) {
          member.listeners.add(listener)
          return () => member.listeners.delete(listener)
        },
        noteMember() {},
        peers: () => [...member.connected].filter((peer) => hears(self, peer)),
      }
      return {
        topic,
        channels: channelsOf(member),
        unplug() {
          if (members.get(self) !== member) return
          members.delete(self)
          for (const channel of member.open) channel.break(new Error('unplugged'))
          rewire()
        },
      }
    },
    partition(groups) {
      groupOf = groups
      rewire()
    },
    inject: gossip,
    onGossip: (listener) => void eavesdroppers.push(listener),
    calm() {
      loss = 0
      duplication = 0
    },
  }
}

interface SimChannel extends ReplicationChannel {
  other: SimChannel | undefined
  receive(message: Uint8Array | undefined): void
  break(reason: Error): void
}

function createSimChannel(
  peer: PeerId,
  at: { clock: Clock; latency: () => number; from: Member; counts: SimNetwork['counts'] },
): SimChannel {
  const inbox: (Uint8Array | undefined)[] = []
  let failure: Error | undefined
  let wake: (() => void) | undefined
  /** Messages of a channel keep their order. */
  let arrivesAt = 0
  const transfer = (message: Uint8Array | undefined) => {
    arrivesAt = Math.max(arrivesAt, at.clock.now() + at.latency())
    at.clock.after(arrivesAt - at.clock.now(), () => channel.other?.receive(message))
  }
  const channel: SimChannel = {
    peer,
    other: undefined,
    async send(message) {
      if (failure !== undefined) throw failure
      at.counts.channelBytes += message.length
      transfer(message.slice())
    },
    async *messages() {
      for (;;) {
        if (failure !== undefined) throw failure
        const next = inbox.shift()
        if (next !== undefined) yield next
        else if (inbox.length > 0 || ended) return
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    },
    async close() {
      transfer(undefined)
      at.from.open.delete(channel)
    },
    abort(reason) {
      const { other } = channel
      channel.break(reason)
      at.clock.after(at.latency(), () => other?.break(new Error('reset by the remote')))
    },
    receive(message) {
      if (message === undefined) ended = true
      else inbox.push(message)
      wake?.()
    },
    break(reason) {
      failure ??= reason
      at.from.open.delete(channel)
      wake?.()
    },
  }
  let ended = false
  at.from.open.add(channel)
  return channel
}
