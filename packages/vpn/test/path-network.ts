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
import type { Datagram, Endpoint } from '@mesh/engine'
import { createManualClock, createSeededRandom, Nat, type NatKind } from '@mesh/testkit'
import { createPaths, type Paths } from '../src/paths/paths.ts'
import type { UdpPath } from '../src/paths/path-state.ts'
import { decodeControl } from '../src/tunnels/control-message.ts'

/** The port that each socket has inside. */
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
  /** Those for whom packets pass. */
  readonly active: Set<PeerId>
  readonly vpnRanges: Cidr[]
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
  loss = 0
  delayMs = 20
  jitterMs = 0
  /** The longest datagram that passes, in bytes. */
  wireBytes = 1_472
  readonly #random: Random
  /** By which address of its own a member was reached from an address last: it answers from there. */
  readonly #reachedAt = new Map<string, IpAddress>()
  readonly #onMapped = new Map<SimMember, (mapped: readonly Endpoint[]) => void>()
  /** The members' ports that a router leads in by, by `address:port`. */
  readonly #mappings = new Map<string, SimMember>()
  /** What a router remembers of those: from where the answers to an address leave. */
  readonly #mappedFlows = new Map<string, { readonly ip: string; readonly port: number }>()
  readonly #inboxes = new Map<SimMember, Datagram[]>()

  constructor(seed = 1) {
    this.#random = createSeededRandom(seed)
  }

  add(name: string, kind: NatKind): SimMember {
    const number = this.members.length + 1
    const id = peerIdFromPublicKey(new Uint8Array(32).fill(number))
    const nat = new Nat(kind, `5.5.5.${number}`)
    const inbox: Datagram[] = []
    const paths = createPaths(
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
          sendDatagram: (to, bytes) => this.#send(member, to, bytes),
          expectDatagrams: () => {},
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
      active: new Set(),
      vpnRanges: [],
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
      one.paths.open(other.id, mtu)
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

  /** Lets a datagram arrive, as from `from`. */
  inject(to: SimMember, from: Endpoint, bytes: Uint8Array): void {
    this.#inboxes.get(to)?.push({ from, length: bytes.length, bytes: bytes.slice(0, 256) })
    to.paths.datagrams()
  }

  stop(): void {
    for (const { paths } of this.members) paths.stop()
  }

  #tell(from: SimMember, peer: PeerId, message: Uint8Array): boolean {
    const to = this.members.find(({ id }) => id === peer)
    const control = decodeControl(message)
    if (to === undefined || control?.kind !== 'paths') throw new Error('no control message')
    this.told.push(`${from.name} ${peer}`)
    this.clock.after(CONTROL_MS, () => to.paths.told(from.id, control.paths))
    return true
  }

  #send(from: SimMember, to: Endpoint, bytes: Uint8Array): boolean {
    const now = this.clock.monotonic()
    const target = { ip: to.address, port: to.port }
    const flow = this.#mappedFlows.get(`${from.name} ${to.address}:${to.port}`)
    const source = flow ?? from.nat.send(PORT, target, now)
    const receiver = this.members.find(({ nat, others }) => nat.ip === to.address || others.has(to.address))
    if (source === undefined || receiver === undefined || receiver === from) return true
    const own = this.#reachedAt.get(`${from.name} ${to.address}`)
    const left = { address: own ?? (source.ip as IpAddress), port: own === undefined ? source.port : PORT }
    this.sent.push({ from: left, to, bytes })
    if (bytes.length > this.wireBytes || this.blocked.has(`${from.name} ${receiver.name}`)) return true
    if (this.#random.float() < this.loss) return true
    const extra = receiver.others.get(to.address) ?? from.others.get(left.address) ?? 0
    const delay = this.delayMs + extra + this.#random.float() * this.jitterMs
    this.clock.after(delay, () => {
      const isOther = receiver.others.has(to.address)
      const isMapped = this.#mappings.get(`${to.address}:${to.port}`) === receiver
      if (isMapped) {
        const back = `${receiver.name} ${left.address}:${left.port}`
        this.#mappedFlows.set(back, { ip: to.address, port: to.port })
      }
      const inside =
        isOther || isMapped ? PORT : receiver.nat.receive(to.port, source, this.clock.monotonic())
      if (inside !== PORT) return
      if (receiver.others.has(to.address)) this.#reachedAt.set(`${receiver.name} ${left.address}`, to.address)
      else this.#reachedAt.delete(`${receiver.name} ${left.address}`)
      this.inject(receiver, left, bytes)
    })
    return true
  }
}
