/**
 * This node's addresses: fixed ones or a lease, and the derived one.
 *
 * 1. Learn what others hold.
 * 2. Check that nobody holds the fixed addresses, or lease one. A lease of the same moment is asked to move.
 * 3. End what an earlier run left, and announce each address in `machines`.
 * 4. Lease again when the lease is lost.
 */
import {
  type AddressInRange,
  BUCKETS,
  type Cidr,
  delay,
  type IpAddress,
  toError,
  untilAborted,
} from '@mesh/core'
import { checkNotTaken } from './addresses/check-addresses.ts'
import { otherHolder } from './addresses/machines-bucket.ts'
import { leaseAddress } from './addresses/lease.ts'
import { createLeaseAge, type LeaseAge } from './addresses/lease-age.ts'
import type { LeaseStore, MachineDescription, VpnComponents } from './vpn.ts'
import { LEASE_MOVES_MS, LOOK_AGAIN_MS, SAME_MOMENT_MS } from './addresses/limits.ts'
import { forgetOldAddresses, machineText } from './addresses/own-machines.ts'
import { PastAddresses } from './addresses/past-addresses.ts'
import { watchLease } from './addresses/watch-lease.ts'
import { LEASE_RETRY_MS } from './limits.ts'

interface OwnAddressesInit {
  readonly derived: AddressInRange
  /** False: the interface has IPv4 only, and this node not the derived address. */
  readonly takesIpv6: boolean
  readonly fixed: readonly AddressInRange[]
  /** The range to lease in, where there are no fixed addresses. */
  readonly leaseRange: Cidr | undefined
  readonly machine: MachineDescription
  /** Addresses that this node holds for guests. */
  readonly guests: () => readonly IpAddress[]
  /** Called when `all()` or `leaseError` has changed. */
  readonly onChange: () => void
}

interface OwnAddressesComponents
  extends Pick<VpnComponents, 'initialSync' | 'announce' | 'ledger' | 'clock' | 'random' | 'log'> {
  readonly store: LeaseStore
  /** Keeps which addresses others had over restarts. */
  readonly pastStore: LeaseStore
  /** The members that this node is connected to now. */
  readonly neighbours: () => readonly string[]
  /** True for a peer that is known to be of our kind. */
  readonly isOurs: (peer: string) => boolean
}

export class OwnAddresses {
  /** Why no address could be leased when it was tried last; undefined while there is hope, or a lease. */
  leaseError: Error | undefined
  readonly #init: OwnAddressesInit
  readonly #components: OwnAddressesComponents
  readonly #age: LeaseAge
  readonly #stopping = new AbortController()
  /** The functions that end the announcing of each address. */
  readonly #announced = new Map<IpAddress, () => void>()
  #lease: AddressInRange | undefined
  /** Addresses that were just lost: they are another's by now, or soon. */
  #lost: readonly IpAddress[] = []
  #unwatch = () => {}
  /** The addresses that others had; only nodes that lease remember it. */
  #past: PastAddresses | undefined
  /** The address for which another's lease was asked to move. */
  #asked: IpAddress | undefined

  constructor(init: OwnAddressesInit, components: OwnAddressesComponents) {
    this.#init = init
    this.#components = components
    this.#age = createLeaseAge(components.clock)
  }

  /** True while an address is to be leased and none is. */
  get leasing(): boolean {
    return this.#init.leaseRange !== undefined && this.#lease === undefined
  }

  all(): readonly AddressInRange[] {
    const { fixed, derived, takesIpv6 } = this.#init
    return [...fixed, ...(this.#lease === undefined ? [] : [this.#lease]), ...(takesIpv6 ? [derived] : [])]
  }

  /**
   * Resolves when all are announced.
   * @throws MeshError `vpn.address_taken`, `vpn.range_full`, ...; the signal's reason
   */
  async start(given: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([given, this.#stopping.signal])
    const { initialSync, ledger, clock } = this.#components
    const { leaseRange } = this.#init
    const begun = clock.now()
    if (leaseRange === undefined) {
      await untilAborted(initialSync(), signal)
      await this.#waitForLeases(begun, signal)
    } else await this.#takeLease(leaseRange, signal)
    signal.throwIfAborted()
    // the record that asked for a fixed address
    if (!this.#init.takesIpv6) this.#endAnnouncing(this.#init.derived.address)
    forgetOldAddresses(ledger, this.#kept())
    this.#announceAll()
  }

  /**
   * Waits while leases of the same moment have the fixed addresses: they move when they hear that those are this
   * node's.
   * @param begun when this node started, in Unix ms; a lease that was claimed long before is kept by its holder
   * @throws MeshError `vpn.address_taken`
   */
  async #waitForLeases(begun: number, signal: AbortSignal): Promise<void> {
    const { ledger, clock } = this.#components
    const { fixed } = this.#init
    const deadline = clock.monotonic() + LEASE_MOVES_MS
    for (;;) {
      const [taken] = checkNotTaken(fixed, ledger, clock.now())
      if (taken === undefined) return
      const address = fixed.find((given) => given.address === taken.details['address'])?.address
      const holder = address && otherHolder(ledger, address, clock.now())
      const moves = holder?.leased === true && holder.claimedAt >= begun - SAME_MOMENT_MS
      if (address === undefined || !moves || clock.monotonic() >= deadline) throw taken
      this.#askFor(address)
      await delay(clock, LOOK_AGAIN_MS, signal)
    }
  }

  /** Asks by the record of the derived address, which nobody else can hold. */
  #askFor(wanted: IpAddress): void {
    const { ledger, announce } = this.#components
    const { machine, derived } = this.#init
    if (this.#asked === wanted) return
    this.#asked = wanted
    forgetOldAddresses(ledger, this.#kept())
    this.#endAnnouncing(derived.address)
    const text = () => machineText(ledger.self, derived.address, { own: [wanted], machine })
    this.#announced.set(derived.address, announce(BUCKETS.machines, derived.address, text))
  }

  /** Announces nothing any more. The entries stay until this node's heartbeat ends. */
  stop(): void {
    this.#stopping.abort(new Error('the VPN was stopped'))
    this.#unwatch()
    this.#past?.stop()
    for (const end of this.#announced.values()) end()
    this.#announced.clear()
  }

  async #takeLease(range: Cidr, signal: AbortSignal): Promise<void> {
    const { ledger } = this.#components
    const { machine, onChange } = this.#init
    const pastAddresses = (this.#past ??= new PastAddresses({
      ...this.#components,
      range,
      store: this.#components.pastStore,
    }))
    await untilAborted(pastAddresses.ready, signal)
    const components = { ...this.#components, pastAddresses, age: this.#age }
    const lease = await leaseAddress(
      {
        range,
        machineText: (address) =>
          machineText(ledger.self, address, { own: [address], machine, leased: true }),
        avoid: [...this.#lost, ...this.#init.guests()],
        signal,
      },
      components,
    )
    const { isKept, ...address } = lease
    this.#lease = address
    this.leaseError = undefined
    // whoever claims what was held before this start has another one as well
    this.#age.leased(isKept)
    this.#unwatch = watchLease(lease.address, components, () => this.#leaseLost(range))
    onChange()
  }

  #leaseLost(range: Cidr): void {
    if (this.#lease !== undefined) {
      this.#endAnnouncing(this.#lease.address)
      this.#lost = [this.#lease.address]
    }
    this.#lease = undefined
    this.#init.onChange()
    void this.#leaseAnew(range, this.#stopping.signal)
  }

  /** Tries again until there is a lease, or the VPN ends. */
  async #leaseAnew(range: Cidr, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#lease === undefined) {
      try {
        await this.#takeLease(range, signal)
        this.#announceAll()
      } catch (error) {
        if (signal.aborted) return
        this.leaseError = toError(error)
        this.#init.onChange()
        await delay(this.#components.clock, LEASE_RETRY_MS, signal).catch(() => {})
      }
    }
  }

  /**
   * Announces every address. Each record says the IPv4 address, too, so that all are written again when that one
   * changes. The derived one is first: who can reach a machine by the address that was given can reach it by that one
   * as well.
   */
  #announceAll(): void {
    const { ledger, announce } = this.#components
    const { machine } = this.#init
    for (const address of this.#addresses().toReversed()) {
      this.#endAnnouncing(address)
      const leased = this.#lease !== undefined
      const text = () => machineText(ledger.self, address, { own: this.#addresses(), machine, leased })
      this.#announced.set(address, announce(BUCKETS.machines, address, text))
    }
  }

  #endAnnouncing(address: IpAddress): void {
    this.#announced.get(address)?.()
    this.#announced.delete(address)
  }

  /** Writes the records of all that were announced again: what they say of this machine has changed. */
  announceAgain(): void {
    if (!this.leasing && this.#announced.size > 0) this.#announceAll()
  }

  /** Addresses that others had lately, who may be away. */
  pastOthers(): readonly IpAddress[] {
    return this.#past?.ofOthers() ?? []
  }

  /** The addresses that this node's entries of `machines` may be for. */
  #kept(): readonly IpAddress[] {
    return [...this.#addresses(), ...this.#init.guests()]
  }

  #addresses(): readonly IpAddress[] {
    return this.all().map(({ address }) => address)
  }
}
