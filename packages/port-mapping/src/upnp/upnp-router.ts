/**
 * One router that was found by UPnP. Bounds its answers and how often it is asked. A router that failed several times in a row is
 * not asked until a search finds it again.
 */
import type { Gateway, MapPortOptions, PortMapping as LibraryMapping } from '@achingbrain/nat-port-mapper'
import { BoundedMap, type Clock, type IpAddress, type Random, withDeadline } from '@mesh/core'
import { createTokenBucket, type TokenBucket } from '@mesh/core/limits'
import type { PortMapping } from '../port-mapping.ts'
import {
  MAX_UPNP_MAPPINGS,
  UPNP_ANSWER_MS,
  UPNP_ASKS,
  UPNP_FAILURES,
  UPNP_LEASE_S,
  UPNP_TCP_RENEW_MS,
} from '../limits.ts'
import { ownAddressTowards } from '../local-network/own-address-towards.ts'
import { firstAttempt, isConflict, nextAttempt } from './mapping-attempt.ts'
import {
  choosesPort,
  decodeAddress,
  decodeFault,
  decodePort,
  encodeAction,
  type RouterControl,
} from './upnp-messages.ts'
import { askRouter } from './upnp-request.ts'

type Protocol = 'TCP' | 'UDP'

/** One port of this machine that a router is to send to. */
interface PortWish {
  readonly protocol: Protocol
  readonly port: number
  /** The address of this machine that the router is to send to. */
  readonly host: string
  /** The router's port that is wished for; where there was one before, that is asked for instead. */
  readonly external: number
}

type Values = Readonly<Record<string, string | number>>

/** A router as what maps UDP ports and libp2p see it. */
export type MappingRouter = Gateway & Pick<UpnpRouter, 'mapPort' | 'unmapPort'>

/** One port that is kept mapped for libp2p. */
interface Kept {
  readonly wish: PortWish
  readonly cancel: () => void
}

/** A router's refusal, in words of this node: of the router's own a number alone is kept. */
class RouterRefusal extends Error {
  readonly fault: number | undefined

  constructor(status: number, text: string) {
    const fault = decodeFault(text)
    super(`the router refused (${fault ?? status})`)
    this.fault = fault
  }
}

/** Machines may have several addresses with the same port. */
const keyOf = ({ protocol, host, port }: PortWish) => `${protocol} ${host} ${port}`

export class UpnpRouter implements Gateway {
  /** Its address: routers of one address are one, whatever they call themselves. */
  readonly id: string
  readonly host: string
  readonly family = 'IPv4'
  readonly #clock: Clock
  readonly #random: Random
  readonly #asks: TokenBucket
  readonly #kept = new Map<string, Kept>()
  /** Which of its ports each wish has, or may have: it is asked for that one again, and given it back at the end. */
  readonly #given = new BoundedMap<string, { readonly wish: PortWish; readonly external: number }>(
    MAX_UPNP_MAPPINGS,
  )
  #control: RouterControl
  #failures = 0

  constructor(control: RouterControl, { clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.id = control.url.hostname
    this.host = control.url.hostname
    this.#control = control
    this.#clock = clock
    this.#random = random
    this.#asks = createTokenBucket(UPNP_ASKS, clock)
  }

  get port(): number {
    return Number(this.#control.url.port) || 80
  }

  /** True for one that failed several times in a row. */
  get isGone(): boolean {
    return this.#failures >= UPNP_FAILURES
  }

  /** It was found again, and is asked there from now on. */
  foundAgain(control: RouterControl): void {
    this.#control = control
    this.#failures = 0
  }

  /** Maps the port, or renews that. @throws Error when the router refuses, or is not there */
  async mapPort(wish: PortWish, signal?: AbortSignal): Promise<PortMapping> {
    const external = this.#given.get(keyOf(wish))?.external ?? wish.external
    const asked = { ...wish, external }
    const port = await (choosesPort(this.#control.service)
      ? this.#addAny(asked, signal)
      : this.#add(asked, signal))
    return { address: await this.#outside(signal), port }
  }

  /** Gives back what was mapped for a port of this machine; what cannot be given back ends with its lease. */
  async unmapPort(protocol: Protocol, port: number, signal?: AbortSignal): Promise<void> {
    const given = [...this.#given].filter(([, { wish }]) => wish.protocol === protocol && wish.port === port)
    for (const [key, { external }] of given) {
      this.#given.delete(key)
      const values = { NewRemoteHost: '', NewExternalPort: external, NewProtocol: protocol }
      await this.#ask('DeletePortMapping', values, { read: () => {}, signal }).catch(() => {})
    }
  }

  /** Has the router map the port that is wished for, or another one of its choice. */
  async #addAny(wish: PortWish, signal: AbortSignal | undefined): Promise<number> {
    const values = mappingValues(wish, UPNP_LEASE_S)
    const external = await this.#ask('AddAnyPortMapping', values, { read: decodePort, signal })
    this.#given.set(keyOf(wish), { wish, external })
    return external
  }

  /** Has a router that chooses none itself map the port that is wished for, or one that it does not refuse. */
  #add(wish: PortWish, signal: AbortSignal | undefined): Promise<number> {
    const key = keyOf(wish)
    return this.#inTime(signal, async (timed) => {
      for (let attempt = firstAttempt(wish.external); ; ) {
        const { external, leaseS } = attempt
        // it may have been mapped, too, where the answer is lost
        this.#given.set(key, { wish, external })
        try {
          await this.#post('AddPortMapping', mappingValues({ ...wish, external }, leaseS), timed)
          return external
        } catch (error) {
          if (!(error instanceof RouterRefusal)) throw error
          // it is not given back: another has it
          if (isConflict(error.fault)) this.#given.delete(key)
          const next = nextAttempt(attempt, error.fault, { port: wish.port, random: this.#random })
          if (next === undefined || !this.#asks.take()) throw error
          attempt = next
        }
      }
    })
  }

  // for libp2p

  externalIp({ signal }: { readonly signal?: AbortSignal } = {}): Promise<IpAddress> {
    return this.#outside(signal)
  }

  /** Maps a port and renews that until it is unmapped. */
  async map(
    internalPort: number,
    internalHost: string,
    { protocol = 'TCP', externalPort = internalPort, signal }: MapPortOptions = {},
  ): Promise<LibraryMapping> {
    const named = protocol.toUpperCase() === 'UDP' ? 'UDP' : 'TCP'
    const wish = { protocol: named, port: internalPort, host: internalHost, external: externalPort } as const
    const { address, port: external } = await this.mapPort(wish, signal)
    this.#keep(wish)
    return { externalHost: address, externalPort: external, internalHost, internalPort, protocol: named }
  }

  async *mapAll(internalPort: number, options?: MapPortOptions): AsyncGenerator<LibraryMapping, void> {
    const own = await ownAddressTowards(this.host, options?.signal ?? AbortSignal.timeout(UPNP_ANSWER_MS))
    yield await this.map(internalPort, own, options)
  }

  async unmap(internalPort: number, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    for (const [key, { wish, cancel }] of this.#kept) {
      if (wish.port !== internalPort) continue
      cancel()
      this.#kept.delete(key)
    }
    await this.unmapPort('TCP', internalPort, signal)
    await this.unmapPort('UDP', internalPort, signal)
  }

  async stop(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const ports = new Set([...this.#kept.values(), ...this.#given.values()].map(({ wish }) => wish.port))
    await Promise.all([...ports].map((port) => this.unmap(port, options)))
  }

  #keep(wish: PortWish): void {
    const key = keyOf(wish)
    this.#kept.get(key)?.cancel()
    const again = () => {
      if (this.#kept.has(key)) this.#keep(wish)
    }
    // a failed one is tried again as the others are, and told nobody: the next search finds the router
    const renew = () => void this.mapPort(wish).then(again, again)
    this.#kept.set(key, { wish, cancel: this.#clock.after(UPNP_TCP_RENEW_MS, renew) })
  }

  #outside(signal: AbortSignal | undefined): Promise<IpAddress> {
    return this.#ask('GetExternalIPAddress', {}, { read: decodeAddress, signal })
  }

  /** One action, within its time. */
  #ask<T>(
    action: string,
    values: Values,
    { read, signal }: { readonly read: (answer: string) => T; readonly signal: AbortSignal | undefined },
  ): Promise<T> {
    return this.#inTime(signal, async (timed) => read(await this.#post(action, values, timed)))
  }

  /**
   * Asks for one thing, by one action or several: all have the time of one, and count once where they fail. The first of them
   * is taken from the rate here, the others are by anyone who asks.
   */
  async #inTime<T>(signal: AbortSignal | undefined, ask: (timed: AbortSignal) => Promise<T>): Promise<T> {
    if (this.isGone) throw new Error('the router does not answer any more')
    if (!this.#asks.take()) throw new Error('the router was asked too often')
    const reason = () => new Error('the router does not answer')
    try {
      const answer = await withDeadline({ clock: this.#clock, ms: UPNP_ANSWER_MS, reason, signal }, ask)
      this.#failures = 0
      return answer
    } catch (error) {
      if (signal?.aborted !== true) this.#failures++
      throw error
    }
  }

  /** @throws Error in words of this node alone: what a router says is shown to nobody */
  async #post(action: string, values: Values, timed: AbortSignal): Promise<string> {
    const { url, service } = this.#control
    const posted = { action: `${service}#${action}`, body: encodeAction(service, action, values) }
    const { status, text } = await askRouter(url, timed, posted)
    if (status !== 200) throw new RouterRefusal(status, text)
    return text
  }
}

function mappingValues({ protocol, port, host, external }: PortWish, leaseS: number): Values {
  return {
    NewRemoteHost: '',
    NewExternalPort: external,
    NewProtocol: protocol,
    NewInternalPort: port,
    NewInternalClient: host,
    NewEnabled: 1,
    NewPortMappingDescription: 'mesh',
    NewLeaseDuration: leaseS,
  }
}
