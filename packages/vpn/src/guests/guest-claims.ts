/** Addresses for guests: free ones of the VPN's ranges, claimed in `machines` as a lease is. */
import { BUCKETS, type Cidr, delay, type IpAddress } from '@mesh/core'
import { freeAddress, ipv6InRange } from '../addresses/free-address.ts'
import { isIpv4 } from '../addresses/ip-math.ts'
import { CLAIM_RACE_MS } from '../addresses/limits.ts'
import { holderOf, readUsed } from '../addresses/machines-bucket.ts'
import { vpnError } from '../errors.ts'
import type { OwnAddresses } from '../own-addresses.ts'
import { MAX_GUESTS_WITH_IPV6 } from './limits.ts'
import type { VpnComponents } from '../vpn.ts'

interface GuestClaimsInit {
  /** This node's VPN ranges. */
  readonly ranges: readonly Cidr[]
  /** The range in which guests have no addresses. */
  readonly derivedRange: Cidr
  /** This node's addresses, and those of machines that are away, which are left to them. */
  readonly own: Pick<OwnAddresses, 'all' | 'pastOthers'>
  /** The number of members that this node is connected to now. */
  readonly neighbours: () => number
  /** The addresses of the guests that were added. */
  readonly held: () => readonly IpAddress[]
  /** Gives the record of a guest's address. */
  readonly recordOf: (name: string, address: IpAddress) => string
}

interface GuestClaimsComponents extends Pick<VpnComponents, 'ledger' | 'clock'> {}

interface ClaimedAddresses {
  readonly address: IpAddress
  /** Its address of IPv6; undefined where it has none. */
  readonly address6: IpAddress | undefined
}

export class GuestClaims {
  readonly #init: GuestClaimsInit
  readonly #components: GuestClaimsComponents
  /** Addresses that are being claimed. */
  readonly #claiming = new Set<IpAddress>()

  constructor(init: GuestClaimsInit, components: GuestClaimsComponents) {
    this.#init = init
    this.#components = components
  }

  /** The addresses that guests have, or may have soon. */
  all(): readonly IpAddress[] {
    return [...this.#init.held(), ...this.#claiming]
  }

  /**
   * Takes free addresses; nobody else holds them when this resolves, and none stays claimed when it rejects.
   * @throws MeshError `vpn.no_guest_address`; the signal's reason
   */
  async claim(name: string, key: string, signal: AbortSignal): Promise<ClaimedAddresses> {
    const address = await this.#claimIpv4(name, signal)
    try {
      return { address, address6: await this.#claimIpv6(name, key, signal) }
    } catch (error) {
      this.giveUp(address)
      throw error
    }
  }

  /** These are among `held` from here on. */
  settle(addresses: readonly IpAddress[]): void {
    for (const address of addresses) this.#claiming.delete(address)
  }

  /** Nobody waits for this claim any more: the entry is this node's, and would stay as long as it runs. */
  giveUp(address: IpAddress): void {
    this.#claiming.delete(address)
    this.#components.ledger.delete(BUCKETS.machines, address)
  }

  async #claimIpv4(name: string, signal: AbortSignal): Promise<IpAddress> {
    const range = this.#init.ranges.find(isIpv4)
    const lost = new Set<IpAddress>()
    for (;;) {
      const address = range && freeAddress(range, new Set([...this.#used(), ...lost]))
      if (address === undefined) {
        throw vpnError('vpn.no_guest_address', `there is no free IPv4 address in ${range ?? 'this VPN'}`)
      }
      if (await this.#holds(address, name, signal)) return address
      lost.add(address)
    }
  }

  /**
   * Takes an address of the range of IPv6 that a person gave; without one, where it is another's, or where enough guests
   * have one, the guest has none.
   */
  async #claimIpv6(name: string, key: string, signal: AbortSignal): Promise<IpAddress | undefined> {
    const { ranges, derivedRange } = this.#init
    const range = ranges.find((each) => !isIpv4(each) && each !== derivedRange)
    const held = this.all().filter((each) => !isIpv4(each))
    if (held.length >= MAX_GUESTS_WITH_IPV6) return undefined
    const address = range && ipv6InRange(range, key, new Set(this.#used()))
    return address !== undefined && (await this.#holds(address, name, signal)) ? address : undefined
  }

  /** Claims it; when it is this node's, it stays claimed. */
  async #holds(address: IpAddress, name: string, signal: AbortSignal): Promise<boolean> {
    this.#claiming.add(address)
    try {
      const isHeld = await this.#wins(address, name, signal)
      if (!isHeld) this.#claiming.delete(address)
      return isHeld
    } catch (error) {
      this.giveUp(address)
      throw error
    }
  }

  async #wins(address: IpAddress, name: string, signal: AbortSignal): Promise<boolean> {
    const { ledger, clock } = this.#components
    const { state } = await ledger.put(BUCKETS.machines, address, this.#init.recordOf(name, address)).settled
    if (state === 'refused') return false
    // another's claim of the same moment
    if (this.#init.neighbours() > 0) await delay(clock, CLAIM_RACE_MS, signal)
    const entry = ledger.snapshot().getLive(BUCKETS.machines, address)
    return entry !== undefined && holderOf(address, entry) === ledger.self
  }

  #used(): readonly IpAddress[] {
    const { own } = this.#init
    const taken = own.all().map(({ address }) => address)
    return [...readUsed(this.#components.ledger.snapshot()), ...taken, ...own.pastOthers(), ...this.all()]
  }
}
