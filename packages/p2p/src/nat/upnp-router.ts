/**
 * One router that was found by UPnP, as libp2p's port mapping and this package's want it. What it answers is bounded, and so is
 * how often it is asked; one that failed several times in a row is asked no more until a search finds it again.
 */
import type { Gateway, MapPortOptions, PortMapping as LibraryMapping } from '@achingbrain/nat-port-mapper'
import { type Clock, createTokenBucket, type IpAddress, type TokenBucket, withDeadline } from '@mesh/core'
import type { PortMapping } from '../addresses/port-mapping.ts'
import { UPNP_ANSWER_MS, UPNP_ASKS, UPNP_FAILURES, UPNP_LEASE_S, UPNP_TCP_RENEW_MS } from '../nat-limits.ts'
import { ownAddressTowards } from './own-address-towards.ts'
import { decodeAddress, decodeFault, decodePort, encodeAction, WAN_CONNECTION } from './upnp-messages.ts'
import { askRouter } from './upnp-request.ts'

type Protocol = 'TCP' | 'UDP'

/** One port of this machine that a router is to send to. */
interface PortWish {
  readonly protocol: Protocol
  readonly port: number
  /** The address of this machine that the router is to send to. */
  readonly host: string
  /** The router's port that is wished for: where there was one before, that. */
  readonly external: number
}

/** How a port is mapped and where that is, without what only libp2p needs. */
export interface MappingRouter extends Gateway {
  /** Maps the port, or renews that. @throws Error when the router refuses, or is not there */
  mapPort(wish: PortWish, signal?: AbortSignal): Promise<PortMapping>
  unmapPort(protocol: Protocol, external: number, signal?: AbortSignal): Promise<void>
}

/** One port that is kept mapped for libp2p. */
interface Kept {
  wish: PortWish
  cancel: () => void
}

export class UpnpRouter implements MappingRouter {
  /** Its address: routers of one address are one, whatever they call themselves. */
  readonly id: string
  readonly host: string
  readonly family = 'IPv4'
  readonly #clock: Clock
  readonly #asks: TokenBucket
  readonly #kept = new Map<string, Kept>()
  #control: URL
  #failures = 0

  constructor(control: URL, clock: Clock) {
    this.id = control.hostname
    this.host = control.hostname
    this.#control = control
    this.#clock = clock
    this.#asks = createTokenBucket(UPNP_ASKS, clock)
  }

  get port(): number {
    return Number(this.#control.port) || 80
  }

  /** True for one that failed several times in a row. */
  get isGone(): boolean {
    return this.#failures >= UPNP_FAILURES
  }

  /** It was found again, and is asked there from now on. */
  foundAgain(control: URL): void {
    this.#control = control
    this.#failures = 0
  }

  async mapPort({ protocol, port, host, external }: PortWish, signal?: AbortSignal): Promise<PortMapping> {
    const values = {
      NewRemoteHost: '',
      NewExternalPort: external,
      NewProtocol: protocol,
      NewInternalPort: port,
      NewInternalClient: host,
      NewEnabled: 1,
      NewPortMappingDescription: 'mesh',
      NewLeaseDuration: UPNP_LEASE_S,
    }
    const reserved = await this.#ask('AddAnyPortMapping', values, { read: decodePort, signal })
    return { address: await this.#outside(signal), port: reserved }
  }

  async unmapPort(protocol: Protocol, external: number, signal?: AbortSignal): Promise<void> {
    const values = { NewRemoteHost: '', NewExternalPort: external, NewProtocol: protocol }
    await this.#ask('DeletePortMapping', values, { read: () => {}, signal })
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
    this.#keep({ ...wish, external })
    return { externalHost: address, externalPort: external, internalHost, internalPort, protocol: named }
  }

  async *mapAll(internalPort: number, options?: MapPortOptions): AsyncGenerator<LibraryMapping, void> {
    const own = await ownAddressTowards(this.host, options?.signal ?? AbortSignal.timeout(UPNP_ANSWER_MS))
    yield await this.map(internalPort, own, options)
  }

  async unmap(internalPort: number, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const kept = [...this.#kept].filter(([, { wish }]) => wish.port === internalPort)
    for (const [key, { wish, cancel }] of kept) {
      cancel()
      this.#kept.delete(key)
      // what is left ends with its lease
      await this.unmapPort(wish.protocol, wish.external, signal).catch(() => {})
    }
  }

  async stop(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const ports = new Set([...this.#kept.values()].map(({ wish }) => wish.port))
    await Promise.all([...ports].map((port) => this.unmap(port, options)))
  }

  #keep(wish: PortWish): void {
    const key = `${wish.protocol} ${wish.port}`
    this.#kept.get(key)?.cancel()
    const renew = () => {
      // a failed one is tried again as the others are, and told nobody: the next search finds the router
      this.mapPort(wish).then(
        ({ port }) => this.#keepIf(key, { ...wish, external: port }),
        () => this.#keepIf(key, wish),
      )
    }
    this.#kept.set(key, { wish, cancel: this.#clock.after(UPNP_TCP_RENEW_MS, renew) })
  }

  #keepIf(key: string, wish: PortWish): void {
    if (this.#kept.has(key)) this.#keep(wish)
  }

  #outside(signal: AbortSignal | undefined): Promise<IpAddress> {
    return this.#ask('GetExternalIPAddress', {}, { read: decodeAddress, signal })
  }

  /** One action, within its time. @throws Error in words of this node alone: what a router says is shown to nobody */
  async #ask<T>(
    action: string,
    values: Readonly<Record<string, string | number>>,
    { read, signal }: { readonly read: (answer: string) => T; readonly signal: AbortSignal | undefined },
  ): Promise<T> {
    if (this.isGone) throw new Error('the router does not answer any more')
    if (!this.#asks.take()) throw new Error('the router was asked too often')
    const reason = () => new Error('the router does not answer')
    const within = { clock: this.#clock, ms: UPNP_ANSWER_MS, reason, ...(signal && { signal }) }
    const posted = { action: `${WAN_CONNECTION}#${action}`, body: encodeAction(action, values) }
    try {
      const { status, text } = await withDeadline(within, (timed) => askRouter(this.#control, timed, posted))
      if (status !== 200) throw new Error(`the router refused (${decodeFault(text) ?? status})`)
      const answer = read(text)
      this.#failures = 0
      return answer
    } catch (error) {
      if (signal?.aborted !== true) this.#failures++
      throw error
    }
  }
}
