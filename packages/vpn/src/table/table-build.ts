/** A table while it is built: each range belongs to one peer, and its size is bounded. */
import type { Cidr, IpAddress, PeerId } from '@mesh/core'
import { createOwners, type Entry, type Owners } from '@mesh/ledger'
import { type Guest, guestAddresses } from '../guests/guest-file.ts'
import { MAX_PEER_ADDRESSES, MAX_TABLE_ADDRESSES, MAX_TABLE_PEERS, STEP_ENTRIES } from '../limits.ts'
import type { IgnoredReason, IpFamily, StaticPeer, VpnProblem } from '../vpn.ts'
import { chooseExit, type ExitChoice, type ExitOffer } from './choose-exit.ts'
import { covers, DEFAULT_ROUTES, hostPrefix, hostRange, type Prefix, prefixOf } from '../addresses/prefix.ts'
import { isOwnersWord, type Machine, readMachine } from '../addresses/read-entry.ts'
import type { TableInput } from './table-input.ts'
import { guestTaken, noRouter, staticOutside } from './table-problems.ts'

export interface TablePeer {
  readonly hostname: string
  readonly addresses: readonly IpAddress[]
  readonly routes: readonly Cidr[]
  /** Its addresses and routes, and a router's default routes; no range is another peer's, too. */
  readonly allowed: readonly Cidr[]
  /** The families that it forwards as an exit; empty: it is none. */
  readonly exit: readonly IpFamily[]
}

interface GrowingPeer extends TablePeer {
  hostname: string
  readonly addresses: IpAddress[]
  readonly routes: Cidr[]
  readonly allowed: Cidr[]
  exit: readonly IpFamily[]
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

  *addMachines(): Generator<void> {
    const { snapshot, self } = this.#input
    let seen = 0
    for (const { key, entry } of snapshot.entries('machines')) {
      if (++seen % STEP_ENTRIES === 0) yield
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
      const addresses = guestAddresses(guest)
      const taken = addresses.find(
        (address) => this.#own.has(address) || this.#holders.has(hostRange(address)),
      )
      if (taken !== undefined) this.problems.push(guestTaken({ name: guest.name, address: taken }))
      else {
        for (const address of addresses) this.#holders.set(hostRange(address), self)
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
    const { exit, reachOf } = this.#input
    if (exit === undefined) return undefined
    const choice = chooseExit(exit, {
      offers: this.#exits,
      isPeer: (peer) => this.peers.has(peer),
      ownerOf: (address) => this.#holders.get(hostRange(address)),
      reachOf,
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
      grown = { hostname, addresses: [], routes: [], allowed: [], exit: [] }
      this.peers.set(peer, grown)
    }
    if (grown.hostname === '') grown.hostname = hostname
    this.#holders.set(range, peer)
    grown.allowed.push(range)
    return undefined
  }

  ignore(reason: IgnoredReason, count = 1): void {
    if (count > 0) this.ignored[reason] = (this.ignored[reason] ?? 0) + count
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
    const { exit: families, exitFaults: faults } = machine
    const held = this.#holders.get(machine.range) === peer ? this.peers.get(peer) : undefined
    if (families.length === 0 || held === undefined) return
    this.#exits.set(peer, { peer, hostname, families, faults })
    held.exit = families
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
