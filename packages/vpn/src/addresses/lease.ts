/**
 * Takes an IPv4 address of a range for this node (docs/WIRE.md 6.1):
 *
 * 1. wait until this node knows what others hold;
 * 2. the address of the last run, or one that the ledger still has for this node, when no other live member has it;
 * 3. else wait for this node's turn and take the first free address;
 * 4. claim it; should another have claimed it in the same moment, begin again at 3;
 * 5. remember it for the next run.
 */
import {
  type AddressInRange,
  type Cidr,
  type Clock,
  delay,
  type IpAddress,
  type Logger,
  MeshError,
  type Random,
  shortPeerId,
  tryParseIp,
} from '@mesh/core'
import { vpnError } from '../errors.ts'
import type { VpnLedger } from '../ports.ts'
import {
  concernsLeases,
  DHCP_BUCKET,
  holderOf,
  LEADER_KEY,
  MACHINES_BUCKET,
  otherHolder,
  readLeader,
  readUsed,
  readWaiting,
} from './dhcp-bucket.ts'
import { countLeasable, freeAddress, isLeasable } from './free-address.ts'
import { isIpv4, prefixLengthOf } from './ip-math.ts'
import { CLAIM_RACE_MS, JOIN_MS } from './limits.ts'
import { GATHER_MS, REWRITE_MS, ELECTION_DEADLINE_MS } from '../legacy/limits.ts'
import type { PastAddresses } from './past-addresses.ts'
import { createLeaseElection } from '../legacy/lease-election.ts'
import { watchLease } from './watch-lease.ts'

/** Keeps one address as text over restarts. */
export interface LeaseStore {
  read(): string | undefined
  write(text: string): void
}

/** What a person who waits for an address is told. */
export type LeaseProgress =
  /** Learning what others hold. */
  | { readonly state: 'arriving' }
  /** It is the turn of the peer `for`; when that is this node, its own turn settles. */
  | { readonly state: 'waiting'; readonly for: string }
  | { readonly state: 'claiming'; readonly address: IpAddress }

export interface LeaseRequest {
  /** IPv4, any prefix length. */
  readonly range: Cidr
  /** The machine record for an address, JSON text. */
  readonly machineText: (address: IpAddress) => string
  /** Not to be taken: an address that this node has just lost. */
  readonly avoid?: readonly IpAddress[]
  /** Called at each change. */
  readonly onProgress?: (progress: LeaseProgress) => void
  readonly signal?: AbortSignal
}

export interface LeaseComponents {
  readonly ledger: VpnLedger
  /** Resolves when this node knows what others hold. */
  readonly arrived: () => Promise<void>
  /** Members that this node is connected to now: with none there is nobody to wait for. */
  readonly neighbours: () => number
  /** Is the peer known to be of our kind, as one that speaks `/mesh/vpn/1` is? */
  readonly isOurs: (peer: string) => boolean
  readonly store: LeaseStore
  /** Addresses that other members had lately, away or not. */
  readonly pastAddresses: Pick<PastAddresses, 'ofOthers'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/**
 * Resolves with an address that this node holds in the ledger; to be announced and watched (`watchLease`) from
 * then on. Nothing else of this node should be announced in `machines` before: who has a machine waits for none.
 * @throws MeshError `vpn.bad_address` for an IPv6 range, `vpn.range_full`; the signal's reason
 */
export async function leaseAddress(
  request: LeaseRequest,
  components: LeaseComponents,
): Promise<AddressInRange> {
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

class Lease {
  readonly #request: LeaseRequest
  readonly #components: LeaseComponents
  readonly #signal: AbortSignal
  /** Lost in a race: others have them, or will. */
  readonly #lost: Set<IpAddress>
  /** About how many may try for an address at the same moment as this node. */
  #racers = 0
  /** How many addresses others may have taken without this node having heard. */
  #unheard = 0
  #told = ''

  constructor(request: LeaseRequest, components: LeaseComponents) {
    this.#request = request
    this.#components = components
    this.#lost = new Set(request.avoid)
    this.#signal = request.signal ?? new AbortController().signal
  }

  async take(): Promise<AddressInRange> {
    const { arrived, neighbours, clock } = this.#components
    this.#signal.throwIfAborted()
    this.#tell({ state: 'arriving' })
    await unlessAborted(arrived(), this.#signal)
    const known = this.#remembered() ?? this.#heldBefore()
    if (known !== undefined && (await this.#claim(known))) return this.#keep(known)
    if (neighbours() > 0) await delay(clock, JOIN_MS, this.#signal)
    for (;;) {
      await this.#turn()
      const address = this.#pick()
      if (await this.#claim(address)) return this.#keep(address)
      this.#lost.add(address)
      this.#racers += RACERS_PER_LOSS
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

  /** What the ledger has for this node from an earlier run. */
  #heldBefore(): IpAddress | undefined {
    const { ledger } = this.#components
    for (const { key, entry } of ledger.snapshot().entries(MACHINES_BUCKET)) {
      const address = tryParseIp(key)
      if (entry.deleted || address === undefined || holderOf(key, entry) !== ledger.self) continue
      if (isLeasable(this.#request.range, address) && !this.#lost.has(address)) return address
    }
    return undefined
  }

  async #turn(): Promise<void> {
    const { ledger, clock, random, isOurs } = this.#components
    const turn = createLeaseElection(ledger.self)
    const deadline = clock.now() + ELECTION_DEADLINE_MS * (1 + random.float() / 2)
    for (;;) {
      this.#checkRoom()
      const now = clock.now()
      const snapshot = ledger.snapshot()
      const isLive = (peer: string) => snapshot.isOwnerLive(peer, now)
      const waiting = readWaiting(snapshot, now)
      const step = turn.next({ waiting, leader: readLeader(snapshot)?.leader, isLive, isOurs }, now)
      this.#unheard = turn.unheard
      if (step.type === 'take') return
      if (now >= deadline) {
        this.#racers += waiting.length
        return
      }
      if (step.type === 'lead') this.#lead()
      this.#tell({ state: 'waiting', for: step.type === 'lead' ? ledger.self : step.for })
      const untilMs = step.type === 'lead' ? now + REWRITE_MS : step.untilMs
      await this.#change(Math.min(untilMs, deadline) - now)
    }
  }

  #lead(): void {
    const { ledger, log } = this.#components
    try {
      ledger.put(DHCP_BUCKET, LEADER_KEY, JSON.stringify(ledger.self))
    } catch (error) {
      if (isStopped(error)) throw error
      log.debug('leader not written', { error })
    }
  }

  /** Resolves soon after the ledger says something else about those who lease, at the latest after `delayMs`. */
  async #change(delayMs: number): Promise<void> {
    const { ledger, clock } = this.#components
    const { promise, resolve } = Promise.withResolvers<void>()
    let cancelSoon: (() => void) | undefined
    const unsubscribe = ledger.subscribe((event) => {
      if (event.type === 'committed' && event.changes.some(concernsLeases)) {
        cancelSoon ??= clock.after(GATHER_MS, resolve)
      }
    })
    const cancel = clock.after(delayMs, resolve, { keepAlive: true })
    try {
      await unlessAborted(promise, this.#signal)
    } finally {
      unsubscribe()
      cancel()
      cancelSoon?.()
    }
  }

  /** The lowest that is free; where others may try at the same moment, one of the lowest. */
  #pick(): IpAddress {
    const { random } = this.#components
    const { range } = this.#request
    const used = this.#used()
    const skip = this.#unheard + Math.floor(random.float() * this.#racers)
    const address =
      freeAddress(range, new Set([...used, ...this.#lost]), skip) ?? freeAddress(range, used, skip)
    if (address === undefined) throw this.#full()
    return address
  }

  #checkRoom(): void {
    const { range } = this.#request
    const { ledger, pastAddresses } = this.#components
    const most = 2 * ledger.snapshot().count(MACHINES_BUCKET) + pastAddresses.ofOthers().length
    if (most < countLeasable(range)) return
    if (freeAddress(range, this.#used()) === undefined) throw this.#full()
  }

  /** What others have, and had lately. */
  #used(): Set<IpAddress> {
    const { ledger, pastAddresses } = this.#components
    const used = readUsed(ledger.snapshot())
    for (const address of pastAddresses.ofOthers()) used.add(address)
    return used
  }

  #full(): MeshError {
    const { range } = this.#request
    const count = countLeasable(range)
    const wider = Math.max(8, prefixLengthOf(range) - 8)
    return vpnError('vpn.range_full', `all ${count} addresses of ${range} are used`, {
      hint: `A lease takes none that another machine had in the last 30 days. Use a larger range on all nodes: --address ${range.replace(/\/.*/, '')}/${wider} --dhcp.`,
      details: { range, count },
    })
  }

  /** Does this node hold the address, and no claim of the same moment beats it? */
  async #claim(address: IpAddress): Promise<boolean> {
    const { ledger, neighbours, log } = this.#components
    this.#tell({ state: 'claiming', address })
    const held = ledger.snapshot().getLive(MACHINES_BUCKET, address)
    const isRenewal = held !== undefined && holderOf(address, held) === ledger.self
    try {
      const write = ledger.put(MACHINES_BUCKET, address, this.#request.machineText(address))
      const outcome = await unlessAborted(write.settled, this.#signal)
      if (outcome.state === 'refused') throw outcome.error
    } catch (error) {
      if (!isRefusal(error)) throw error
      log.info('address not free', { address, reason: error.message })
      return false
    }
    const settleMs = isRenewal || neighbours() === 0 ? 0 : CLAIM_RACE_MS
    return this.#staysOurs(address, settleMs)
  }

  async #staysOurs(address: IpAddress, settleMs: number): Promise<boolean> {
    const { clock } = this.#components
    const lost = new AbortController()
    const watched = { address, firstLeasedAt: clock.now() }
    const stop = watchLease(watched, this.#components, () => lost.abort())
    try {
      await delay(clock, settleMs, AbortSignal.any([this.#signal, lost.signal]))
      return true
    } catch {
      this.#signal.throwIfAborted()
      return false
    } finally {
      stop()
    }
  }

  #keep(address: IpAddress): AddressInRange {
    const { store, log } = this.#components
    const { range } = this.#request
    try {
      store.write(address)
    } catch (error) {
      log.warn('lease not remembered', { address, error })
    }
    log.info('address leased', { address, range })
    return { address, range, prefixLength: prefixLengthOf(range) }
  }

  #tell(progress: LeaseProgress): void {
    const text = JSON.stringify(progress)
    if (text === this.#told) return
    this.#told = text
    this.#request.onProgress?.(progress)
  }
}

const RACERS_PER_LOSS = 4

function describePeer({ hostname, peer }: { readonly hostname: string; readonly peer: string }): string {
  return `${hostname} ${shortPeerId(peer)}`.trim()
}

/** The key is another's, or its version is ahead of the clock: another address is as good. */
function isRefusal(error: unknown): error is MeshError {
  return error instanceof MeshError && ['ledger.not_owner', 'ledger.bad_value'].includes(error.code)
}

function isStopped(error: unknown): boolean {
  return error instanceof MeshError && error.code === 'ledger.stopped'
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
