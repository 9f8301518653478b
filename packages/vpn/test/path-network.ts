/** Members whose sockets are joined by a network in virtual time: NATs, delays, jitter, loss, firewalls, wires of any MTU. */
import {
  type Cidr,
  type IpAddress,
  type PeerId,
  peerIdFromPublicKey,
  type Random,
  silentLogger,
  tryParseAddressInRange,
} from '@mesh/core'
import type { Datagram, Endpoint, ProbePair } from '@mesh/engine'
import { createManualClock, createSeededRandom, Nat, type NatKind } from '@mesh/testkit'
import { Paths } from '../src/paths/paths.ts'
import type { UdpPath } from '../src/paths/path-state.ts'
import { decodeControl, type PathsMessage } from '../src/wire/control-message.ts'

/** The port that each member's own socket has inside; further ones have those behind it. */
const PORT = 4_700
/** How long a control message takes, in ms. */
const CONTROL_MS = 60

interface Change {
  readonly at: number
  readonly path: UdpPath | undefined
}

/** A datagram as it left. */
interface Sent {
  readonly from: Endpoint
  readonly to: Endpoint
  readonly bytes: Uint8Array
}

export interface SimMember {
  readonly name: string
  readonly id: PeerId
  readonly nat: Nat
  readonly paths: Paths
  /** What the path to each peer was, with its times. */
  readonly changes: Map<PeerId, Change[]>
  /** The peers that saw one of its sockets elsewhere than before, in turn. */
  readonly remapped: PeerId[]
  /** Those for whom packets pass. */
  readonly active: Set<PeerId>
  readonly vpnRanges: Cidr[]
  /** The ports of its further sockets. */
  readonly sockets: Set<number>
  /** The pairs whose probes its engine expects, by their tokens in hex. */
  readonly expected: Map<string, ProbePair>
  /** Further addresses of its own in the open, with the delay to them. */
  readonly others: Map<IpAddress, number>
}

export class PathNetwork {
  readonly clock = createManualClock()
  readonly members: SimMember[] = []
  /** `a b`: datagrams from a to b are dropped. */
  readonly blocked = new Set<string>()
  /** All that was sent. */
  readonly sent: Sent[] = []
  /** Who told whom, `name id`. */
  readonly told: string[] = []
  /** What was told last, by `name id` of who told whom. */
  readonly messages = new Map<string, PathsMessage>()
  loss = 0
  delayMs = 20
  jitterMs = 0
  /** The longest datagram that passes, in bytes. */
  wireBytes = 1_472
  /** The most further sockets of a member. */
  maxSockets = 2
  /** The members whose processes are too busy to hear that datagrams came; their engines have them. */
  readonly busy = new Set<SimMember>()
  readonly #random: Random
  /** By which address of its own a member was reached from an address last: it answers from there. */
  readonly #reachedAt = new Map<string, IpAddress>()
  readonly #onMapped = new Map<SimMember, (mapped: readonly Endpoint[]) => void>()
  /** The members' ports that a router leads in by, by `address:port`. */
  readonly #mappings = new Map<string, SimMember>()
  /** What a router remembers of those: from where the answers to an address leave. */
  readonly #mappedFlows = new Map<string, { readonly ip: string; readonly port: number }>()
  readonly #inboxes = new Map<SimMember, Datagram[]>()
  #nextPort = PORT + 1

  constructor(seed = 1) {
    this.#random = createSeededRandom(seed)
  }

  add(name: string, kind: NatKind): SimMember {
    const number = this.members.length + 1
    const id = peerIdFromPublicKey(new Uint8Array(32).fill(number))
    const nat = new Nat(kind, `5.5.5.${number}`)
    const inbox: Datagram[] = []
    const paths = new Paths(
      {
        self: id,
        vpnRanges: () => member.vpnRanges,
        interfaceName: () => 'mesh0',
        networks: () => {
          const inside = kind === 'open' ? nat.ip : `192.168.${number}.2`
          return [inside, ...member.others.keys()].flatMap((address) => {
            const parsed = tryParseAddressInRange(`${address}/24`)
            return parsed === undefined ? [] : [{ interface: 'eth0', address: parsed }]
          })
        },
      },
      {
        engine: {
          udpPort: PORT,
          sendDatagram: (to, bytes, socket) => this.#send(member, { to, bytes, inside: socket ?? PORT }),
          openSocket: () => {
            if (member.sockets.size >= this.maxSockets) return undefined
            member.sockets.add(this.#nextPort)
            return this.#nextPort++
          },
          closeSocket: (port) => void member.sockets.delete(port),
          expectProbes: (pair) => void member.expected.set(hexOf(pair.token), pair),
          forgetProbes: (token) => void member.expected.delete(hexOf(token)),
          takeDatagrams: () => inbox.splice(0),
          activePeers: () => [...member.active],
        },
        mapPort: (_port, onMapped) => {
          this.#onMapped.set(member, onMapped)
          return () => this.#onMapped.delete(member)
        },
        tell: (peer, message) => this.#tell(member, peer, message),
        onPath: (peer) => {
          const all = member.changes.get(peer) ?? []
          all.push({ at: this.clock.monotonic(), path: member.paths.pathOf(peer) })
          member.changes.set(peer, all)
        },
        onRemapped: (peer) => member.remapped.push(peer),
        clock: this.clock,
        random: this.#random,
        log: silentLogger,
      },
    )
    const member: SimMember = {
      name,
      id,
      nat,
      paths,
      changes: new Map(),
      remapped: [],
      active: new Set(),
      vpnRanges: [],
      sockets: new Set(),
      expected: new Map(),
      others: new Map(),
    }
    this.#inboxes.set(member, inbox)
    this.members.push(member)
    return member
  }

  /** The member's router leads a port of its own to it, once it is asked. */
  mapPort(member: SimMember, port: number): void {
    this.#mappings.set(`${member.nat.ip}:${port}`, member)
    this.clock.after(100, () => this.#onMapped.get(member)?.([{ address: member.nat.ip as IpAddress, port }]))
  }

  /** A control channel stands between the two, and packets pass. */
  join(a: SimMember, b: SimMember, mtu = 1_280): void {
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      one.active.add(other.id)
      one.paths.open(other.id, { mtu, address: other.nat.ip })
    }
  }

  /** Both have members `r` and `s` in the open to be seen by, and a control channel with each other. */
  async meet(a: SimMember, b: SimMember): Promise<void> {
    const [r, s] = [this.add('r', 'open'), this.add('s', 'open')]
    for (const open of [r, s]) {
      this.join(a, open)
      this.join(b, open)
    }
    await this.run(3_000)
    this.join(a, b)
  }

  run(ms: number): Promise<void> {
    return this.clock.advance(ms)
  }

  /** Counts the tenths of a second within `ms` in which a packet of one of the two would be lost. */
  async countLost(ms: number, [a, b]: readonly [SimMember, SimMember]): Promise<number> {
    let lost = 0
    for (let at = 0; at < ms; at += 100) {
      await this.run(100)
      if (!this.passes(a, b) || !this.passes(b, a)) lost++
    }
    return lost
  }

  /** How long `fn` takes to become true, in ms; Infinity: longer than `withinMs`. */
  async until(fn: () => boolean, withinMs: number): Promise<number> {
    for (let ms = 0; ms <= withinMs; ms += 20) {
      if (fn()) return ms
      await this.run(20)
    }
    return Number.POSITIVE_INFINITY
  }

  block(from: SimMember, to: SimMember): void {
    this.blocked.add(`${from.name} ${to.name}`)
  }

  /** Lets a datagram arrive, as from `from`, at the member's own socket or the further one with the port. */
  inject(to: SimMember, from: Endpoint, bytes: Uint8Array, port = PORT): void {
    const socket = port === PORT ? undefined : port
    this.#inboxes.get(to)?.push({ from, socket, length: bytes.length, bytes: bytes.slice(0, 256) })
    if (!this.busy.has(to)) to.paths.datagrams()
  }

  /** A packet that is sent now reaches the other, by the path or by the stream that helps. */
  passes(from: SimMember, to: SimMember): boolean {
    const path = from.paths.pathOf(to.id)
    if (path === undefined || path.alsoStream) return true
    const now = this.clock.monotonic()
    const { address: ip, port } = path.endpoint
    const source = from.nat.send(path.socket ?? PORT, { ip, port }, now)
    const inside = source && ip === to.nat.ip ? to.nat.receive(port, source, now) : undefined
    return inside !== undefined && (inside === PORT || to.sockets.has(inside))
  }

  stop(): void {
    for (const { paths } of this.members) paths.stop()
  }

  #tell(from: SimMember, peer: PeerId, message: Uint8Array): boolean {
    const to = this.members.find(({ id }) => id === peer)
    const control = decodeControl(message)
    if (to === undefined || control?.kind !== 'paths') throw new Error('no control message')
    this.told.push(`${from.name} ${peer}`)
    this.messages.set(`${from.name} ${peer}`, control.paths)
    this.clock.after(CONTROL_MS, () => to.paths.told(from.id, control.paths))
    return true
  }

  #send(from: SimMember, { to, bytes, inside: own }: Leaving): boolean {
    const now = this.clock.monotonic()
    const target = { ip: to.address, port: to.port }
    const flow = this.#mappedFlows.get(`${from.name} ${to.address}:${to.port}`)
    const source = flow ?? from.nat.send(own, target, now)
    const receiver = this.members.find(({ nat, others }) => nat.ip === to.address || others.has(to.address))
    if (source === undefined || receiver === undefined || receiver === from) return true
    const other = this.#reachedAt.get(`${from.name} ${to.address}`)
    const left = {
      address: other ?? (source.ip as IpAddress),
      port: other === undefined ? source.port : PORT,
    }
    this.sent.push({ from: left, to, bytes })
    if (bytes.length > this.wireBytes || this.blocked.has(`${from.name} ${receiver.name}`)) return true
    if (this.#random.float() < this.loss) return true
    const extra = receiver.others.get(to.address) ?? from.others.get(left.address) ?? 0
    const delay = this.delayMs + extra + this.#random.float() * this.jitterMs
    this.clock.after(delay, () => this.#arrive(receiver, { source, left, to, bytes }))
    return true
  }

  #arrive(receiver: SimMember, { source, left, to, bytes }: Arriving): void {
    const isOther = receiver.others.has(to.address)
    const isMapped = this.#mappings.get(`${to.address}:${to.port}`) === receiver
    if (isMapped) {
      const back = `${receiver.name} ${left.address}:${left.port}`
      this.#mappedFlows.set(back, { ip: to.address, port: to.port })
    }
    const inside = isOther || isMapped ? PORT : receiver.nat.receive(to.port, source, this.clock.monotonic())
    if (inside === undefined || (inside !== PORT && !receiver.sockets.has(inside))) return
    if (isOther) this.#reachedAt.set(`${receiver.name} ${left.address}`, to.address)
    else this.#reachedAt.delete(`${receiver.name} ${left.address}`)
    this.inject(receiver, left, bytes, inside)
  }
}

interface Leaving {
  readonly to: Endpoint
  readonly bytes: Uint8Array
  /** The port of the socket that it leaves by. */
  readonly inside: number
}

interface Arriving {
  /** Where it left the sender's NAT, and where the receiver sees it come from. */
  readonly source: { readonly ip: string; readonly port: number }
  readonly left: Endpoint
  readonly to: Endpoint
  readonly bytes: Uint8Array
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
