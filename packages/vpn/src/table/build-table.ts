/**
 * Which peer owns which addresses: pure, from the ledger as it is at `now` and what the person asked for. 1 the
 * machines, of the ledger or of the static table; 2 the router for what nobody else owns; 3 the networks behind
 * peers that this node accepts. The engine's form of it, with the tunnels, comes after (`engine-table.ts`).
 */
import type { Cidr, IpAddress, PeerId } from '@mesh/core'
import { createOwners, type Entry, type Owners, type OwnershipMode, type Snapshot } from '@mesh/ledger'
import { MAX_PEER_ADDRESSES, MAX_TABLE_ADDRESSES, MAX_TABLE_PEERS } from '../limits.ts'
import type { AcceptedRoute, IgnoredReason, StaticPeer, VpnProblem } from '../vpn.ts'
import type { Guest } from '../guests/guest-file.ts'
import { acceptRoutes, type AcceptPolicy } from './accept-routes.ts'
import { chooseExit, type ExitChoice, type ExitOffer, type ExitWish } from './choose-exit.ts'
import { covers, DEFAULT_ROUTES, hostPrefix, hostRange, type Prefix, prefixOf } from './prefix.ts'
import { isOwnersWord, type Machine, readMachine } from './read-entry.ts'
import { guestTaken, noRouter, staticOutside } from './table-problems.ts'

export type TableSnapshot = Pick<Snapshot, 'entries' | 'getLive' | 'isOwnerLive'>

export interface TableInput {
  readonly snapshot: TableSnapshot
  /** The time of the table, in Unix ms. */
  readonly now: number
  readonly self: PeerId
  readonly mode: OwnershipMode
  readonly livenessMs: number
  /** The addresses that this node should have: nobody else's, as long as nobody else has them. */
  readonly own: readonly IpAddress[]
  /** This node's VPN ranges, the derived prefix too: machines elsewhere do not enter. */
  readonly ranges: readonly Cidr[]
  readonly derived: {
    readonly prefix: Cidr
    /** The one address in the prefix that a peer may have. */
    addressOf(peer: PeerId): IpAddress
  }
  /** The static table, which replaces the ledger's machines when it is not empty. */
  readonly staticPeers: readonly StaticPeer[]
  /** False for a peer that is kept out of the network. */
  readonly admits: (peer: PeerId) => boolean
  readonly router: IpAddress | undefined
  /** Whom this node carries for. */
  readonly guests?: readonly Guest[]
  /** The member that a person named for all that leaves for the Internet. */
  readonly exit?: ExitWish | undefined
  readonly accept: AcceptPolicy
  /** The routes of the table before this one: they stay, whoever claims parts of them. */
  readonly held?: readonly AcceptedRoute[]
  /** The networks that this node routes for others. */
  readonly advertised: readonly Cidr[]
  /** The networks of the host, without the VPN's. */
  readonly connected: readonly Cidr[]
  /** The addresses through which this node reaches other peers now. */
  readonly remotes: readonly IpAddress[]
}

export interface VpnTable {
  readonly peers: ReadonlyMap<PeerId, TablePeer>
  /** Guests of this node whose address no live peer holds. */
  readonly guests: readonly Guest[]
  /** Undefined where no exit was asked for. */
  readonly exit: ExitChoice | undefined
  readonly accepted: readonly AcceptedRoute[]
  /** The accepted routes that the kernel gets. */
  readonly kernelRoutes: readonly Cidr[]
  readonly ignored: Readonly<Partial<Record<IgnoredReason, number>>>
  readonly problems: readonly VpnProblem[]
  /** This node's addresses, without those that a live peer holds in the ledger. */
  readonly own: readonly IpAddress[]
  /** Owners without a heartbeat; when one comes, the table changes. */
  readonly silent: ReadonlySet<string>
  /** When the first of the other owners has no heartbeat any more, in Unix ms; undefined: never. */
  readonly expiresAt: number | undefined
}

export interface TablePeer {
  readonly hostname: string
  readonly addresses: readonly IpAddress[]
  readonly routes: readonly Cidr[]
  /** Its addresses and routes, and a router's default routes; no range is another peer's, too. */
  readonly allowed: readonly Cidr[]
}

export function buildTable(input: TableInput): VpnTable {
  const build = new TableBuild(input)
  if (input.staticPeers.length > 0) build.addStaticPeers()
  else build.addMachines()
  build.addGuests()
  build.addRouter()
  const exit = build.addExit()
  const routes = acceptRoutes(input, build)
  return {
    peers: build.peers,
    guests: build.guests,
    exit,
    accepted: routes.accepted,
    kernelRoutes: routes.accepted.filter(({ inKernel }) => inKernel).map(({ range }) => range),
    ignored: build.ignored,
    problems: [...build.problems, ...routes.problems],
    own: build.own,
    silent: build.owners.silent,
    expiresAt: build.owners.expiresAt(),
  }
}

interface GrowingPeer extends TablePeer {
  hostname: string
  readonly addresses: IpAddress[]
  readonly routes: Cidr[]
  readonly allowed: Cidr[]
}

/** A table that grows: each range belongs to one peer, and its size is bounded. */
export class TableBuild {
  readonly peers = new Map<PeerId, GrowingPeer>()
  readonly ignored: Partial<Record<IgnoredReason, number>> = {}
  readonly problems: VpnProblem[] = []
  readonly guests: Guest[] = []
  readonly #exits = new Map<PeerId, ExitOffer>()
  readonly owners: Owners
  readonly #input: TableInput
  readonly #ranges: readonly Prefix[]
  readonly #derived: Prefix
  readonly own: readonly IpAddress[]
  readonly #own: ReadonlySet<IpAddress>
  readonly #holders = new Map<Cidr, PeerId>()
  #addresses = 0

  constructor(input: TableInput) {
    this.#input = input
    this.owners = createOwners(input)
    this.#ranges = input.ranges.map(prefixOf)
    this.#derived = prefixOf(input.derived.prefix)
    this.own = input.own.filter((address) => !this.#isTaken(address))
    this.#own = new Set(this.own)
  }

  addMachines(): void {
    const { snapshot, self } = this.#input
    for (const { key, entry } of snapshot.entries('machines')) {
      if (entry.deleted) continue
      const machine = readMachine(key, entry)
      if (typeof machine === 'string') this.ignore(machine)
      else if (machine.peer !== self) this.#addMachine(machine, entry)
    }
  }

  addStaticPeers(): void {
    const { staticPeers, self, snapshot, admits } = this.#input
    const outside: StaticPeer[] = []
    for (const { address, peer } of staticPeers) {
      if (peer === self) continue
      if (!admits(peer)) {
        this.ignore('notAdmitted')
        continue
      }
      const reason = this.#reasonAgainst(address, hostPrefix(address))
      if (reason === 'outsideRange') outside.push({ address, peer })
      const entry = snapshot.getLive('machines', address)
      const machine = entry === undefined ? undefined : readMachine(address, entry)
      const hostname = typeof machine === 'object' && machine.peer === peer ? machine.hostname : ''
      if (reason === undefined) this.#claimAddress({ address, range: hostRange(address), peer, hostname })
      else this.ignore(reason)
    }
    if (outside.length > 0) this.problems.push(staticOutside(outside))
  }

  addGuests(): void {
    const { guests = [], self } = this.#input
    for (const guest of guests) {
      const range = hostRange(guest.address)
      if (this.#own.has(guest.address) || this.#holders.has(range)) this.problems.push(guestTaken(guest))
      else {
        this.#holders.set(range, self)
        this.guests.push(guest)
      }
    }
  }

  addRouter(): void {
    const { router, self } = this.#input
    if (router === undefined) return
    const peer = this.#holders.get(hostRange(router))
    if (peer === undefined || peer === self) {
      this.problems.push(noRouter(router, this.#own.has(router)))
      return
    }
    for (const range of DEFAULT_ROUTES) this.claim(range, peer)
  }

  /** Gives what nobody owns to the exit; before accepted routes, so that a default route of others loses. */
  addExit(): ExitChoice | undefined {
    const { exit } = this.#input
    if (exit === undefined) return undefined
    const choice = chooseExit(exit, {
      offers: this.#exits,
      isPeer: (peer) => this.peers.has(peer),
      ownerOf: (address) => this.#holders.get(hostRange(address)),
    })
    if (choice.state === 'chosen') {
      for (const range of DEFAULT_ROUTES) this.claim(range, choice.offer.peer)
    }
    return choice
  }

  /** Gives a range to a peer. @returns the reason when that cannot be */
  claim(range: Cidr, peer: PeerId, hostname = ''): IgnoredReason | undefined {
    const holder = this.#holders.get(range)
    if (holder !== undefined) return holder === peer ? undefined : 'lostToOther'
    let grown = this.peers.get(peer)
    if (grown === undefined) {
      if (this.peers.size >= MAX_TABLE_PEERS) return 'tooMany'
      grown = { hostname, addresses: [], routes: [], allowed: [] }
      this.peers.set(peer, grown)
    }
    if (grown.hostname === '') grown.hostname = hostname
    this.#holders.set(range, peer)
    grown.allowed.push(range)
    return undefined
  }

  ignore(reason: IgnoredReason): void {
    this.ignored[reason] = (this.ignored[reason] ?? 0) + 1
  }

  /** A derived address is its peer's, whatever the ledger says. */
  #isTaken(address: IpAddress): boolean {
    const { snapshot, self, mode } = this.#input
    const entry = snapshot.getLive('machines', address)
    const machine = entry && readMachine(address, entry)
    if (entry === undefined || machine === undefined || typeof machine === 'string') return false
    if (machine.peer === self || covers(this.#derived, machine.prefix)) return false
    return isOwnersWord(machine.peer, entry, mode) && this.owners.isLive(entry.owner)
  }

  #addMachine(machine: Machine, entry: Entry): void {
    const { mode, derived } = this.#input
    const { address, prefix, peer } = machine
    const reason = this.#reasonAgainst(address, prefix)
    if (reason !== undefined) return this.ignore(reason)
    if (!isOwnersWord(peer, entry, mode)) return this.ignore('ownerMismatch')
    if (!this.owners.isLive(entry.owner)) return this.ignore('ownerDead')
    if (covers(this.#derived, prefix) && derived.addressOf(peer) !== address)
      return this.ignore('derivedOfOther')
    const hostname = machine.guest ? '' : machine.hostname
    this.#claimAddress({ ...machine, hostname })
    const { exit: families } = machine
    if (families.length > 0 && this.#holders.get(machine.range) === peer)
      this.#exits.set(peer, { peer, hostname, families })
  }

  #reasonAgainst(address: IpAddress, prefix: Prefix): IgnoredReason | undefined {
    if (this.#own.has(address)) return 'ownAddress'
    return this.#ranges.some((range) => covers(range, prefix)) ? undefined : 'outsideRange'
  }

  #claimAddress({
    address,
    range,
    peer,
    hostname,
  }: Pick<Machine, 'address' | 'range' | 'peer' | 'hostname'>): void {
    const held = this.peers.get(peer)?.addresses.length ?? 0
    const isFull = this.#addresses >= MAX_TABLE_ADDRESSES || held >= MAX_PEER_ADDRESSES
    const reason = isFull ? 'tooMany' : this.claim(range, peer, hostname)
    if (reason !== undefined) return this.ignore(reason)
    this.#addresses++
    this.peers.get(peer)?.addresses.push(address)
  }
}
