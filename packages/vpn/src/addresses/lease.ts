/**
 * Takes an IPv4 address of a range for this node (docs/WIRE.md 6.1):
 *
 * 1. Wait until this node knows what others hold.
 * 2. Take the address of the last run, or one that the ledger has for this node, if no other live member has it.
 * 3. Otherwise ask for one in the ledger and wait for the election. Pick the first free address, and skip one for each earlier
 *    asker.
 * 4. Claim it. If another claimed it in the same moment, begin again at 3.
 * 5. Remember it for the next run.
 */
import { type LeaseAge, oldLease } from './lease-age.ts'
import type { LeaseStore, VpnComponents } from '../vpn.ts'
import {
  type AddressInRange,
  BUCKETS,
  type Cidr,
  delay,
  type IpAddress,
  MeshError,
  shortPeerId,
  tryParseIp,
  untilAborted,
} from '@mesh/core'
import { vpnError } from '../errors.ts'
import { awaitElection } from './await-election.ts'
import { endRequest, writeRequest } from './dhcp-bucket.ts'
import { countLeasable, freeAddress, isLeasable } from './free-address.ts'
import { isIpv4, prefixLengthOf } from './ip-math.ts'
import { CLAIM_RACE_MS, JOIN_MS } from './limits.ts'
import { holderOf, otherHolder, readUsed } from './machines-bucket.ts'
import type { PastAddresses } from './past-addresses.ts'
import { watchLease } from './watch-lease.ts'

interface LeaseRequest {
  /** The IPv4 range to lease in, of any prefix length. */
  readonly range: Cidr
  /** The machine record for an address, JSON text. */
  readonly machineText: (address: IpAddress) => string
  /** Addresses that are not to be taken: this node has just lost them. */
  readonly avoid?: readonly IpAddress[]
  readonly signal?: AbortSignal
}

/** An address that this node holds now. */
export interface TakenLease extends AddressInRange {
  /** It was this node's before it started, so that others may count on it. */
  readonly isKept: boolean
}

interface LeaseComponents extends Pick<VpnComponents, 'ledger' | 'initialSync' | 'clock' | 'random' | 'log'> {
  /** The members that this node is connected to now; with none there is nobody to wait for. */
  readonly neighbours: () => readonly string[]
  /** True for a peer that is known to be of our kind, as one that speaks `/mesh/vpn/1` is. */
  readonly isOurs: (peer: string) => boolean
  readonly store: LeaseStore
  readonly age: LeaseAge
  /** The addresses that other members had lately, whether they are away or not. */
  readonly pastAddresses: Pick<PastAddresses, 'ofOthers' | 'lasting'>
}

/**
 * Resolves with an address that this node holds in the ledger, which is to be announced and watched (`watchLease`) from
 * then on. Nothing else of this node should be announced in `machines` before: who has a machine waits for none.
 * @throws MeshError `vpn.bad_address` for an IPv6 range, `vpn.range_full`; the signal's reason
 */
export async function leaseAddress(request: LeaseRequest, components: LeaseComponents): Promise<TakenLease> {
  if (!isIpv4(request.range)) {
    throw vpnError(
      'vpn.bad_address',
      `an address can be leased from an IPv4 range only, not ${request.range}`,
      {
        hint: 'Every node has an IPv6 address of its own without a lease. For IPv4 give --address 10.1.0.0/24 --dhcp.',
      },
    )
  }
  return new Lease(request, components).take()
}

interface Claimed {
  readonly address: IpAddress
  readonly age: LeaseAge
}

class Lease {
  readonly #request: LeaseRequest
  readonly #components: LeaseComponents
  readonly #signal: AbortSignal
  /** Addresses that were lost in a race: others have them, or will. */
  readonly #lost: Set<IpAddress>
  /** About how many nodes may try for an address at the same moment as this one. */
  #racers = 0
  /** How many of the lowest free addresses others may have taken unheard, or take now. */
  #unheard = 0

  constructor(request: LeaseRequest, components: LeaseComponents) {
    this.#request = request
    this.#components = components
    this.#lost = new Set(request.avoid)
    this.#signal = request.signal ?? new AbortController().signal
  }

  async take(): Promise<TakenLease> {
    const { initialSync, neighbours, clock, age } = this.#components
    this.#signal.throwIfAborted()
    await untilAborted(initialSync(), this.#signal)
    const known = this.#remembered() ?? this.#heldBefore()
    if (known !== undefined && (await this.#claim(known, oldLease(age)))) return this.#keep(known, true)
    if (neighbours().length > 0) {
      this.#ask()
      await delay(clock, JOIN_MS, this.#signal)
    }
    for (;;) {
      await this.#waitForElection()
      const address = this.#pick()
      if (address === undefined) {
        // who won the lost ones is not known yet
        this.#lost.clear()
        await delay(clock, CLAIM_RACE_MS, this.#signal)
        continue
      }
      if (await this.#claim(address, age)) return this.#keep(address, false)
      this.#lost.add(address)
      this.#racers += RACERS_PER_LOSS
    }
  }

  /** Tells others that this node takes an address, too. Without that it takes one all the same, after more races. */
  #ask(): void {
    const { ledger, log } = this.#components
    try {
      writeRequest(ledger, this.#request.range)
    } catch (error) {
      if (error instanceof MeshError && error.code === 'ledger.stopped') throw error
      log.debug('request for an address not written', { error })
    }
  }

  /** The address of the last run, if it is still right. */
  #remembered(): IpAddress | undefined {
    const { store, ledger, clock, log } = this.#components
    const { range } = this.#request
    const text = store.read()?.trim()
    if (text === undefined || text === '') return undefined
    const address = tryParseIp(text)
    if (address !== undefined && this.#lost.has(address)) return undefined
    if (address === undefined || !isLeasable(range, address)) {
      log.warn('remembered address dropped: not in the range', { address: text.slice(0, 60), range })
      return undefined
    }
    const other = otherHolder(ledger, address, clock.now())
    const isPast = this.#components.pastAddresses.ofOthers().includes(address)
    if (other === undefined && !isPast) return address
    const usedBy = other === undefined ? 'a member that is away' : describePeer(other)
    log.warn('remembered address dropped: used by another', { address, usedBy })
    return undefined
  }

  /** Finds what the ledger has for this node from an earlier run. */
  #heldBefore(): IpAddress | undefined {
    const { ledger } = this.#components
    for (const { key, entry } of ledger.snapshot().entries(BUCKETS.machines)) {
      if (entry.deleted || holderOf(key, entry) !== ledger.self) continue
      const address = tryParseIp(key)
      if (address === undefined) continue
      if (isLeasable(this.#request.range, address) && !this.#lost.has(address)) return address
    }
    return undefined
  }

  /** Waits until this node may take an address. */
  async #waitForElection(): Promise<void> {
    const outcome = await awaitElection(
      {
        range: this.#request.range,
        signal: this.#signal,
        check: () => this.#checkRoom(),
      },
      this.#components,
    )
    this.#unheard = outcome.unheard
    this.#racers += outcome.racers
  }

  /**
   * Picks the lowest free address; where others may try at the same moment, one of the lowest. Undefined while only those
   * are left that were lost in a race.
   */
  #pick(): IpAddress | undefined {
    const { random, pastAddresses } = this.#components
    const { range } = this.#request
    const skip = this.#unheard + Math.floor(random.float() * this.#countRacers())
    const free = (past: readonly IpAddress[]) =>
      freeAddress(range, new Set([...this.#held(past), ...this.#lost]), skip)
    // nobody counts on what was another's for a moment only
    const address = free(pastAddresses.ofOthers()) ?? free(pastAddresses.lasting())
    if (address === undefined && this.#lost.size === 0) throw this.#full()
    return address
  }

  /**
   * Counts those who may try for an address at the same moment as this node. Members that are connected and of which the
   * ledger says nothing yet may do so: on busy machines all that start together are late to hear of each other.
   */
  #countRacers(): number {
    const { ledger, neighbours } = this.#components
    const snapshot = ledger.snapshot()
    const isHeard = (peer: string) => snapshot.getLive(BUCKETS.healthcheck, peer) !== undefined
    const unheard = neighbours().filter((peer) => !isHeard(peer)).length
    return this.#racers + PLACES_PER_RACER * unheard
  }

  #checkRoom(): void {
    const { range } = this.#request
    const { ledger, pastAddresses } = this.#components
    const most = 2 * ledger.snapshot().count(BUCKETS.machines) + pastAddresses.ofOthers().length
    if (most < countLeasable(range)) return
    if (freeAddress(range, this.#held(pastAddresses.lasting())) === undefined) throw this.#full()
  }

  /** The addresses that others have, and the given ones that they had. */
  #held(past: readonly IpAddress[]): Set<IpAddress> {
    return new Set([...readUsed(this.#components.ledger.snapshot()), ...past])
  }

  #full(): MeshError {
    const { range } = this.#request
    const count = countLeasable(range)
    const wider = Math.max(8, prefixLengthOf(range) - 8)
    return vpnError('vpn.range_full', `all ${count} addresses of ${range} are used`, {
      hint: `A lease takes none that another machine had for a day or more in the last 30 days. Use a larger range on all nodes: --address ${range.replace(/\/.*/, '')}/${wider} --dhcp.`,
      details: { range, count },
    })
  }

  /** Claims the address. True when this node holds it, and no claim of the same moment beats it. */
  async #claim(address: IpAddress, age: LeaseAge): Promise<boolean> {
    const { ledger, neighbours, log } = this.#components
    const held = ledger.snapshot().getLive(BUCKETS.machines, address)
    const isRenewal = held !== undefined && holderOf(address, held) === ledger.self
    try {
      const write = ledger.put(BUCKETS.machines, address, this.#request.machineText(address))
      const outcome = await untilAborted(write.settled, this.#signal)
      if (outcome.state === 'refused') throw outcome.error
    } catch (error) {
      if (!isRefusal(error)) throw error
      log.info('address not free', { address, reason: error.message })
      return false
    }
    const raceMs = isRenewal || neighbours().length === 0 ? 0 : CLAIM_RACE_MS
    return this.#staysOurs({ address, age }, raceMs)
  }

  async #staysOurs({ address, age }: Claimed, raceMs: number): Promise<boolean> {
    const { clock } = this.#components
    const lost = new AbortController()
    const stop = watchLease(address, { ...this.#components, age }, () => lost.abort())
    try {
      await delay(clock, raceMs, AbortSignal.any([this.#signal, lost.signal]))
      return true
    } catch {
      this.#signal.throwIfAborted()
      return false
    } finally {
      stop()
    }
  }

  #keep(address: IpAddress, isKept: boolean): TakenLease {
    const { ledger, store, log } = this.#components
    const { range } = this.#request
    try {
      store.write(address)
    } catch (error) {
      log.warn('lease not remembered', { address, error })
    }
    try {
      endRequest(ledger)
    } catch (error) {
      log.debug('request for an address not ended', { error })
    }
    log.info('address leased', { address, range })
    return { address, range, prefixLength: prefixLengthOf(range), isKept }
  }
}

const RACERS_PER_LOSS = 4
/** The number of addresses over which those who try unheard are spread, for each of them. */
const PLACES_PER_RACER = 4

function describePeer({ hostname, peer }: { readonly hostname: string; readonly peer: string }): string {
  return `${hostname} ${shortPeerId(peer)}`.trim()
}

/** True when the key is another's, or its version is ahead of the clock: another address is as good. */
function isRefusal(error: unknown): error is MeshError {
  return error instanceof MeshError && ['ledger.not_owner', 'ledger.bad_value'].includes(error.code)
}
