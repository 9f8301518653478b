/**
 * Guests of this node: stock WireGuard devices with an address of the VPN, which speak with this node only.
 *
 * 1. Their keys and addresses, and this node's key and port, survive restarts.
 * 2. Their addresses are announced in `machines` as this node's.
 * 3. The table holds them, and the engine carries their packets.
 */
import { BUCKETS, type Cidr, type IpAddress } from '@mesh/core'
import { endpointText, type GuestCounters, type UdpInit } from '@mesh/engine'
import { isIpv4 } from '../addresses/ip-math.ts'
import { machineText } from '../addresses/own-machines.ts'
import { vpnError } from '../errors.ts'
import { DEFAULT_MTU } from '../limits.ts'
import type { OwnAddresses } from '../own-addresses.ts'
import type { Candidate } from '../wire/control-message.ts'
import { DEFAULT_ROUTES } from '../addresses/prefix.ts'
import { publicKeyOf } from '../keys/x25519.ts'
import type {
  AcceptedRoute,
  AddedGuest,
  GuestRequest,
  GuestStatus,
  GuestStore,
  VpnComponents,
  VpnInit,
  VpnProblem,
} from '../vpn.ts'
import { GuestClaims } from './guest-claims.ts'
import { bestEndpoint, guestConfiguration, guestDns, withPort } from './guest-configuration.ts'
import { findLost, guestProblems } from './guest-problems.ts'
import {
  encodeGuestFile,
  type FoundAddress,
  type Guest,
  guestAddresses,
  readGuestFile,
} from './guest-file.ts'
import { MAX_GUEST_MTU, MAX_GUESTS } from './limits.ts'

interface GuestsInit {
  /** The wishes of the person. */
  readonly options: Pick<
    VpnInit,
    'guestEndpoint' | 'machine' | 'mtu' | 'advertiseRoutes' | 'wireguard' | 'dnsPlaces'
  >
  /** This node's VPN ranges. */
  readonly ranges: readonly Cidr[]
  /** The one in which peers have the addresses that follow from their ids, and guests none. */
  readonly derivedRange: Cidr
  /** This node's addresses, and those of machines that are away, which are left to them. */
  readonly own: Pick<OwnAddresses, 'all' | 'pastOthers'>
  readonly accepted: () => readonly AcceptedRoute[]
  readonly udpPort: () => number | undefined
  readonly candidates: () => readonly Candidate[]
  /** The Internet traffic of guests goes on from here: this node has an exit, or is one. */
  readonly hasExit: () => boolean
  readonly counters: () => ReadonlyMap<string, GuestCounters>
  /** The number of members that this node is connected to now. */
  readonly neighbours: () => number
  /** Called when `all()` has changed. */
  readonly onChange: () => void
}

interface GuestsComponents extends Pick<VpnComponents, 'announce' | 'ledger' | 'clock' | 'random' | 'log'> {
  readonly store: GuestStore
}

const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

export class Guests {
  /** This node's WireGuard key: the one that guests know, or a new one. The caller's to overwrite at the end. */
  readonly privateKey: Uint8Array
  /** The port that guests know; undefined: there were none so far. */
  readonly port: number | undefined
  readonly #init: GuestsInit
  readonly #components: GuestsComponents
  readonly #announced = new Map<IpAddress, () => void>()
  /** Unix ms of the last handshake of each, by its key. */
  readonly #sessions = new Map<string, number>()
  #guests: readonly Guest[]
  readonly #claims: GuestClaims
  /** The names, in lower case, of guests that are being added. */
  readonly #adding = new Set<string>()
  #stopped = false

  /** @throws MeshError `vpn.bad_guest_file` */
  constructor(init: GuestsInit, components: GuestsComponents) {
    this.#init = init
    this.#components = components
    const file = readGuestFile(components.store)
    this.privateKey =
      file === undefined
        ? components.random.bytes(32)
        : new Uint8Array(Buffer.from(file.privateKey, 'base64'))
    this.port = file?.port
    this.#guests = file?.guests ?? []
    this.#claims = new GuestClaims(
      {
        ...init,
        held: () => this.#guests.flatMap(guestAddresses),
        recordOf: (name, address) => this.#recordOf(name, address),
      },
      components,
    )
  }

  all(): readonly Guest[] {
    return this.#guests
  }

  addresses(): readonly IpAddress[] {
    return this.#claims.all()
  }

  /**
   * Announces those of earlier runs. To be called when this node has its own addresses.
   * @throws MeshError `vpn.guests_need_engine`
   */
  start(): void {
    if (this.#guests.length > 0) this.#checkEngine()
    for (const guest of this.#guests) this.#announce(guest)
  }

  stop(): void {
    this.#stopped = true
    for (const end of this.#announced.values()) end()
    this.#announced.clear()
  }

  /** A session with the guest that has this key was made. */
  session(key: string): void {
    this.#sessions.set(key, this.#components.clock.now())
  }

  list(): readonly GuestStatus[] {
    const counters = this.#init.counters()
    const lost = this.#guests.length === 0 ? [] : findLost(this.#guests, this.#init.candidates())
    return this.#guests.map((guest) => {
      const { name, address, address6, publicKey, addedAt } = guest
      const counted = counters.get(publicKey)
      return {
        name,
        address,
        address6,
        publicKey,
        addedAt,
        fullTunnel: guest.fullTunnel === true,
        findsNodeAt: guest.endpoint ?? guest.found?.address,
        isLost: lost.includes(guest),
        sessionSince: this.#sessions.get(publicKey),
        endpoint: counted?.endpoint,
        counters: counted ?? { packetsIn: 0, bytesIn: 0, packetsOut: 0, bytesOut: 0, drops: {} },
      }
    })
  }

  problems(): readonly VpnProblem[] {
    const { udpPort, candidates, ranges, hasExit } = this.#init
    const own = { known: this.port, port: udpPort(), candidates, ranges, hasExit }
    return guestProblems({ ...own, guests: this.#guests })
  }

  /**
   * @throws MeshError `vpn.guest_exists`, `vpn.bad_guest_name`, `vpn.too_many_guests`, `vpn.no_udp`, `vpn.no_endpoint`,
   *   `vpn.no_exit`, `vpn.no_guest_address`, `vpn.guest_not_kept`, `vpn.guests_need_engine`; the signal's reason
   */
  async add(request: GuestRequest, signal: AbortSignal): Promise<AddedGuest> {
    const { name, endpoint: given, fullTunnel = false } = request
    this.#checkEngine()
    this.#checkName(name)
    if (fullTunnel) this.#checkExit()
    const place = this.#placeFor(given)
    const adding = name.toLowerCase()
    const privateKey = this.#components.random.bytes(32)
    this.#adding.add(adding)
    try {
      const made = await this.#make(name, privateKey, signal)
      const guest: Guest = { ...made, ...place, ...(fullTunnel && { fullTunnel }) }
      this.#keep([...this.#guests, guest], guestAddresses(guest))
      this.#announce(guest)
      this.#init.onChange()
      const { address, address6, publicKey } = guest
      this.#components.log.info('guest added', { name, address, address6 })
      const { endpoint } = place
      const configuration = this.#configurationOf(guest, privateKey, endpoint)
      return { name, address, address6, publicKey, endpoint, configuration }
    } finally {
      this.#adding.delete(adding)
      privateKey.fill(0)
    }
  }

  async #make(name: string, privateKey: Uint8Array, signal: AbortSignal): Promise<Guest> {
    const { random, clock } = this.#components
    const publicKey = publicKeyOf(privateKey).toString('base64')
    const { address, address6 } = await this.#claims.claim(name, publicKey, signal)
    return {
      name,
      address,
      ...(address6 !== undefined && { address6 }),
      publicKey,
      presharedKey: Buffer.from(random.bytes(32)).toString('base64'),
      addedAt: clock.now(),
    }
  }

  /** Its packets pass no more when this returns. @throws MeshError `vpn.unknown_guest`, `vpn.guest_not_kept` */
  remove(name: string): void {
    const guest = this.#guests.find((each) => isSame(each.name, name))
    if (guest === undefined) throw vpnError('vpn.unknown_guest', `no guest is called ${JSON.stringify(name)}`)
    const { store, ledger, log } = this.#components
    // what cannot be forgotten on disk is cut off all the same
    this.#guests = this.#guests.filter((each) => each !== guest)
    this.#init.onChange()
    this.#endAnnouncing(guest)
    this.#sessions.delete(guest.publicKey)
    for (const address of guestAddresses(guest)) ledger.delete(BUCKETS.machines, address)
    log.info('guest removed', { name: guest.name, address: guest.address })
    this.#write(store, this.#guests)
  }

  #configurationOf(guest: Guest, privateKey: Uint8Array, endpoint: string): string {
    const { ranges, accepted } = this.#init
    const { mtu, machine, advertiseRoutes = [], dnsPlaces = [] } = this.#init.options
    const own = this.#init.own.all().map(({ address }) => address)
    const behind = accepted().filter(({ inKernel }) => inKernel)
    const routes = [...advertiseRoutes, ...behind.map(({ range }) => range)]
    return guestConfiguration({
      ...guest,
      addresses: guestAddresses(guest),
      dns: guestDns(dnsPlaces, guest.address6 === undefined ? own.filter(isIpv4) : own),
      privateKey: Buffer.from(privateKey).toString('base64'),
      mtu: guestMtuOf(mtu),
      node: {
        name: machine.Hostname,
        publicKey: publicKeyOf(this.privateKey).toString('base64'),
        endpoint,
      },
      // a full tunnel takes what it cannot carry along: nothing goes past it
      reaches: guest.fullTunnel
        ? DEFAULT_ROUTES
        : [...new Set([...ranges, ...routes])].filter(
            (range) => guest.address6 !== undefined || isIpv4(range),
          ),
    })
  }

  /** The engine passes packets on between guests and members; the kernel would do so only as a router, unfiltered. */
  #checkEngine(): void {
    if (this.#init.options.wireguard !== 'kernel') return
    const { length } = this.#guests
    throw vpnError('vpn.guests_need_engine', "a node with the kernel's WireGuard carries for no guests", {
      hint:
        length === 0
          ? 'Start it with --wireguard engine, or add the guest at another node.'
          : `This node has ${length}: start it with --wireguard engine, and remove them first if the kernel is to carry (\`mesh guest remove\`).`,
    })
  }

  /** A guest without a way on would be told that it has one. */
  #checkExit(): void {
    if (this.#init.hasExit()) return
    throw vpnError('vpn.no_exit', 'this node has no exit node, and is none')
  }

  #checkName(name: string): void {
    if (!NAME.test(name)) {
      throw vpnError('vpn.bad_guest_name', `a guest cannot be called ${JSON.stringify(name.slice(0, 80))}`)
    }
    if (this.#adding.has(name.toLowerCase()) || this.#guests.some((guest) => isSame(guest.name, name))) {
      throw vpnError('vpn.guest_exists', `there is a guest called ${name} already`)
    }
    if (this.#guests.length + this.#adding.size >= MAX_GUESTS) {
      throw vpnError('vpn.too_many_guests', `this node has ${this.#guests.length} guests`)
    }
  }

  #placeFor(given: string | undefined): { readonly endpoint: string; readonly found?: FoundAddress } {
    const port = this.#init.udpPort()
    if (port === undefined) throw vpnError('vpn.no_udp', 'this node sends nothing over UDP')
    const asked = given ?? this.#init.options.guestEndpoint
    if (asked !== undefined) return { endpoint: withPort(asked, port) }
    const best = bestEndpoint(this.#init.candidates())
    if (best === undefined) throw vpnError('vpn.no_endpoint', 'this machine has no address of its own')
    const { endpoint, kind } = best
    const isOwn = kind === 'own'
    const found = { address: endpoint.address, ...(!isOwn && { port: endpoint.port }), isOwn }
    return { endpoint: endpointText(endpoint), found }
  }

  #keep(guests: readonly Guest[], claimed: readonly IpAddress[]): void {
    try {
      this.#write(this.#components.store, guests)
    } catch (error) {
      for (const address of claimed) this.#claims.giveUp(address)
      throw error
    }
    this.#guests = guests
    this.#claims.settle(claimed)
  }

  #write(store: GuestStore, guests: readonly Guest[]): void {
    const port = this.port ?? this.#init.udpPort()
    if (port === undefined) return
    try {
      const privateKey = Buffer.from(this.privateKey).toString('base64')
      store.write(encodeGuestFile({ privateKey, port, guests }))
    } catch (error) {
      throw vpnError('vpn.guest_not_kept', 'the guests of this node cannot be written down', { cause: error })
    }
  }

  #announce(guest: Guest): void {
    if (this.#stopped) return
    const { announce } = this.#components
    for (const address of guestAddresses(guest)) {
      const text = () => this.#recordOf(guest.name, address)
      this.#announced.set(address, announce(BUCKETS.machines, address, text))
    }
  }

  #endAnnouncing(guest: Guest): void {
    for (const address of guestAddresses(guest)) {
      this.#announced.get(address)?.()
      this.#announced.delete(address)
    }
  }

  #recordOf(name: string, address: IpAddress): string {
    const machine = { Hostname: name, OS: 'wireguard', Arch: '', Version: this.#init.options.machine.Version }
    return machineText(this.#components.ledger.self, address, { own: [address], machine, guest: true })
  }
}

/** The longest packet of guests, in bytes, where the interface takes `mtu`. */
export function guestMtuOf(mtu = DEFAULT_MTU): number {
  return Math.min(mtu, MAX_GUEST_MTU)
}

/**
 * Opens with the UDP port that a person gave, or else the one that guests know; where another program has that, with any,
 * which `Guests.problems` tells.
 */
export function openOnPort<T>(
  udp: UdpInit | undefined,
  known: number | undefined,
  open: (udp: UdpInit | undefined) => T,
): T {
  if (udp === undefined || known === undefined || (udp.port ?? 0) !== 0) return open(udp)
  try {
    return open({ ...udp, port: known })
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes(`UDP port ${known}`)) throw error
    return open(udp)
  }
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
