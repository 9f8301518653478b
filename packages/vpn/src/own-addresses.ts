/**
 * This node's addresses: the fixed ones or a lease, and the derived one. 1 learn what others hold; 2 see that nobody
 * has the fixed ones, or lease one; 3 end what an earlier run left, announce each (`machines`); 4 lease anew when the
 * lease is lost.
 */
import {
  type AddressInRange,
  type Cidr,
  type Clock,
  delay,
  type IpAddress,
  type Logger,
  type Random,
} from '@mesh/core'
import { checkNotTaken } from './addresses/check-addresses.ts'
import { leaseAddress, type LeaseStore } from './addresses/lease.ts'
import { forgetOldAddresses, machineText } from './addresses/own-machines.ts'
import { watchLease } from './addresses/watch-lease.ts'
import { LEASE_RETRY_MS } from './limits.ts'
import type { VpnLedger } from './ports.ts'
import type { MachineDescription, VpnComponents } from './vpn.ts'

export interface OwnAddresses {
  all(): readonly AddressInRange[]
  /** An address is to be leased, and none is. */
  readonly leasing: boolean
  /** Why no address could be leased when it was tried last; undefined while there is hope, or a lease. */
  readonly leaseError: Error | undefined
  /**
   * Resolves when all are announced.
   * @throws MeshError `vpn.address_taken`, `vpn.range_full`, ...; the signal's reason
   */
  start(signal: AbortSignal): Promise<void>
  /** The entries stay: they end with this node's heartbeat. */
  stop(): void
}

export interface OwnAddressesInit {
  readonly derived: AddressInRange
  readonly fixed: readonly AddressInRange[]
  /** To lease in; without fixed ones. */
  readonly leaseRange: Cidr | undefined
  readonly machine: MachineDescription
  /** `all()` or `leaseError` is another. */
  readonly onChange: () => void
}

export interface OwnAddressesComponents extends Pick<VpnComponents, 'arrived' | 'announce'> {
  readonly ledger: VpnLedger
  readonly store: LeaseStore
  /** Members that this node is connected to now. */
  readonly neighbours: () => number
  /** Does the peer run a VPN like this one? */
  readonly isOurs: (peer: string) => boolean
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export function createOwnAddresses(init: OwnAddressesInit, components: OwnAddressesComponents): OwnAddresses {
  return new Addresses(init, components)
}

class Addresses implements OwnAddresses {
  leaseError: Error | undefined
  readonly #init: OwnAddressesInit
  readonly #components: OwnAddressesComponents
  readonly #stopping = new AbortController()
  /** Ends the announcing, by address. */
  readonly #announced = new Map<IpAddress, () => void>()
  #lease: AddressInRange | undefined
  #firstLeasedAt: number | undefined
  /** Just lost: another's by now, or soon. */
  #lost: readonly IpAddress[] = []
  #unwatch = () => {}

  constructor(init: OwnAddressesInit, components: OwnAddressesComponents) {
    this.#init = init
    this.#components = components
  }

  get leasing(): boolean {
    return this.#init.leaseRange !== undefined && this.#lease === undefined
  }

  all(): readonly AddressInRange[] {
    const { fixed, derived } = this.#init
    return [...fixed, ...(this.#lease === undefined ? [] : [this.#lease]), derived]
  }

  async start(given: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([given, this.#stopping.signal])
    const { arrived, ledger, clock } = this.#components
    const { fixed, leaseRange } = this.#init
    if (leaseRange === undefined) {
      await unlessAborted(arrived(), signal)
      const [taken] = checkNotTaken(fixed, ledger, clock.now())
      if (taken !== undefined) throw taken
    } else await this.#takeLease(leaseRange, signal)
    signal.throwIfAborted()
    forgetOldAddresses(ledger, this.#addresses())
    this.#announceAll()
  }

  stop(): void {
    this.#stopping.abort(new Error('the VPN was stopped'))
    this.#unwatch()
    for (const end of this.#announced.values()) end()
    this.#announced.clear()
  }

  async #takeLease(range: Cidr, signal: AbortSignal): Promise<void> {
    const { ledger, clock } = this.#components
    const { machine, onChange } = this.#init
    const lease = await leaseAddress(
      {
        range,
        machineText: (address) => machineText(ledger.self, address, { own: [address], machine }),
        avoid: this.#lost,
        signal,
      },
      this.#components,
    )
    this.#lease = lease
    this.leaseError = undefined
    this.#firstLeasedAt ??= clock.now()
    const watched = { address: lease.address, firstLeasedAt: this.#firstLeasedAt }
    this.#unwatch = watchLease(watched, this.#components, () => this.#leaseLost(range))
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

  /** Until there is one, or the VPN ends. */
  async #leaseAnew(range: Cidr, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#lease === undefined) {
      try {
        await this.#takeLease(range, signal)
        this.#announceAll()
      } catch (error) {
        if (signal.aborted) return
        this.leaseError = error instanceof Error ? error : new Error(String(error))
        this.#init.onChange()
        await delay(this.#components.clock, LEASE_RETRY_MS, signal).catch(() => {})
      }
    }
  }

  /**
   * Each record says the IPv4 address, too, so that all are written again when that one changes. The derived one is
   * first: who can reach a machine by the address that was given can reach it by that one as well.
   */
  #announceAll(): void {
    const { ledger, announce } = this.#components
    const { machine } = this.#init
    for (const address of this.#addresses().toReversed()) {
      this.#endAnnouncing(address)
      const text = () => machineText(ledger.self, address, { own: this.#addresses(), machine })
      this.#announced.set(address, announce('machines', address, text))
    }
  }

  #endAnnouncing(address: IpAddress): void {
    this.#announced.get(address)?.()
    this.#announced.delete(address)
  }

  #addresses(): readonly IpAddress[] {
    return this.all().map(({ address }) => address)
  }
}

function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
