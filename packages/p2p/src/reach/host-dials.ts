/**
 * Bounds dials by the dialled host, whichever member named it. A member can invent peers at a third party's address, and every node
 * that hears of them would dial it. A host rests after failed dials, longer with each. Where many peers share one address,
 * successful dials cancel its failures. Addresses that worked before are dialled while the host rests.
 */
import { BoundedMap, type Clock, addressGroup, untilAborted } from '@mesh/core'
import { backoffMs } from '@mesh/core/limits'
import type { Multiaddr } from '@multiformats/multiaddr'
import { ipOf } from '../addresses/address-rules.ts'
import {
  FREE_HOST_FAILURES,
  HOST_FORGIVEN_MS,
  HOST_REST,
  MAX_DIALLED_HOSTS,
  MAX_DIALS_OF_HOST,
  MAX_DIALS_OF_UNKNOWN_HOST,
  MAX_PROVEN_ADDRESSES,
} from './limits.ts'

/** The host was not dialled, as many dials there failed. */
export class HostRestsError extends Error {
  override readonly name = 'HostRestsError'

  constructor() {
    super('dials to this host failed, and it is left alone for now')
  }
}

/** The reason by which a dial is ended that nobody needs any more: it was not in vain. */
export class UnneededDialError extends Error {
  override readonly name = 'UnneededDialError'
}

interface Host {
  running: number
  /** Dials in vain since the last one that succeeded. */
  failures: number
  failedAt: number
  restUntil: number
  /** A dial has succeeded. */
  isKnown: boolean
  /** Those who wait for others to end, the first first. */
  readonly waiting: Set<() => void>
}

const NEVER = Number.NEGATIVE_INFINITY
/** Stands for all names together: anyone who has a name can have as many as it likes, of any host. */
const NAMES = 'names'

export class HostDials {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #hosts = new BoundedMap<string, Host>(MAX_DIALLED_HOSTS)
  readonly #proven = new BoundedMap<string, true>(MAX_PROVEN_ADDRESSES)

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /**
   * Dials when fewer dials of the host are under way, or at once where somebody asked for it.
   *
   * @throws HostRestsError; the signal's reason; what the dial throws
   */
  async run<T>(
    address: Multiaddr,
    { signal, isAskedFor }: { readonly signal: AbortSignal; readonly isAskedFor: boolean },
    dial: () => Promise<T>,
  ): Promise<T> {
    const hosts = this.#hostsOf(address)
    if (isAskedFor || this.#proven.has(String(address))) enter(hosts)
    else await this.#untilRoom(hosts, signal)
    try {
      const result = await dial()
      this.#proven.set(String(address), true)
      for (const host of hosts) Object.assign(host, { failures: 0, restUntil: NEVER, isKnown: true })
      return result
    } catch (error) {
      if (!(signal.reason instanceof UnneededDialError)) for (const host of hosts) this.#failed(host)
      throw error
    } finally {
      for (const host of hosts) leave(host)
    }
  }

  /** Resolves when there is room for one more dial of all these hosts, and has it taken. */
  async #untilRoom(hosts: readonly Host[], signal: AbortSignal): Promise<void> {
    for (;;) {
      const full = hosts.find((host) => !this.#hasRoom(host))
      if (full === undefined) return enter(hosts)
      const room = Promise.withResolvers<void>()
      full.waiting.add(room.resolve)
      try {
        await untilAborted(room.promise, signal)
      } finally {
        full.waiting.delete(room.resolve)
      }
    }
  }

  /** @throws HostRestsError */
  #hasRoom(host: Host): boolean {
    if (this.#clock.monotonic() < host.restUntil) throw new HostRestsError()
    // who rested is tried by one
    if (host.failures >= FREE_HOST_FAILURES) return host.running === 0
    return host.running < (host.isKnown ? MAX_DIALS_OF_HOST : MAX_DIALS_OF_UNKNOWN_HOST)
  }

  #failed(host: Host): void {
    const now = this.#clock.monotonic()
    // several that were under way together are one sign
    if (now < host.restUntil) return
    host.failures++
    host.failedAt = now
    const beyond = host.failures - FREE_HOST_FAILURES
    if (beyond < 0) return
    host.restUntil = now + backoffMs(HOST_REST, beyond)
  }

  /** A name counts for itself and among all names; what has no host, as an address in memory, is not bounded. */
  #hostsOf(address: Multiaddr): readonly Host[] {
    const ip = ipOf(address)
    if (ip !== undefined) return [this.#host(addressGroup(ip))]
    const [first] = address.getComponents()
    return first?.name.startsWith('dns') === true
      ? [String(first.value), NAMES].map((key) => this.#host(key))
      : []
  }

  #host(key: string): Host {
    const known = this.#hosts.get(key)
    if (known !== undefined && this.#clock.monotonic() - known.failedAt > HOST_FORGIVEN_MS) known.failures = 0
    const host = known ?? {
      running: 0,
      failures: 0,
      failedAt: NEVER,
      restUntil: NEVER,
      isKnown: false,
      waiting: new Set<() => void>(),
    }
    this.#hosts.set(key, host)
    return host
  }
}

function enter(hosts: readonly Host[]): void {
  for (const host of hosts) host.running++
}

/** Each of those who wait looks itself whether there is room: after a failure all are told that the host rests. */
function leave(host: Host): void {
  host.running--
  for (const goOn of host.waiting) goOn()
}
