/**
 * Has routers forward a UDP port of theirs to a port of this machine, and says which. Uses UPnP at the routers that libp2p's
 * own mapping found, and PCP or NAT-PMP at the default router.
 */
import { networkInterfaces } from 'node:os'
import type { UPnPNAT } from '@achingbrain/nat-port-mapper'
import { type Clock, type Logger, type Random, withDeadline } from '@mesh/core'
import {
  MAX_UPNP_ROUTERS,
  PORT_MAPPING_LIFETIME_S,
  PORT_MAPPING_RETRY_MS,
  STOP_MAPPING_MS,
  UPNP_ANSWER_MS,
  UPNP_FAILURES,
  UPNP_RENEW_MS,
} from './limits.ts'
import type { PortMapping } from './port-mapping.ts'
import { defaultRouter } from './local-network/default-router.ts'
import { ownAddressTowards } from './local-network/own-address-towards.ts'
import { PORT_CONTROL_PORT } from './port-control/port-control-message.ts'
import { askForMapping, mappingNonce } from './port-control/ask-for-mapping.ts'
import { UpnpClient } from './upnp/upnp-client.ts'
import type { MappingRouter } from './upnp/upnp-router.ts'

export interface PortMappingComponents {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

export type OnMapped = (mappings: readonly PortMapping[]) => void

interface RouterSources {
  /** Searches for routers by UPnP. */
  readonly client: Pick<UpnpClient, 'findGateways' | 'getGateway'>
  /** The default router, where it may be asked by PCP and NAT-PMP. */
  readonly defaultRouter: () => PortMapping | undefined
}

/** @param sources default: the local network's */
export function createUdpPortMappings(
  components: PortMappingComponents,
  sources: Partial<RouterSources> = {},
): UdpPortMappings {
  const network = () => ({ interfaces: networkInterfaces(), defaultRouter: defaultRouter() })
  const { client = new UpnpClient({ ...components, network }) } = sources
  return new UdpPortMappings(components, { defaultRouter: portControlRouter, ...sources, client })
}

/** One port that is kept mapped. */
interface Wish {
  readonly port: number
  readonly nonce: Uint8Array
  readonly onMapped: OnMapped
  /** Where it is reached, by the router's name. */
  readonly mapped: Map<string, PortMapping>
  /** Functions that cancel the next renewal, by the router's name. */
  readonly renewals: Map<string, () => void>
}

const DEFAULT_ROUTER = 'default router'

export class UdpPortMappings {
  /** The client for libp2p's search; the routers that it finds are asked for UDP ports, too. */
  readonly client: UPnPNAT
  readonly #components: PortMappingComponents
  readonly #defaultRouter: RouterSources['defaultRouter']
  readonly #routers = new Map<string, MappingRouter>()
  readonly #wishes = new Set<Wish>()
  readonly #stopping = new AbortController()

  constructor(components: PortMappingComponents, { client, defaultRouter: ofMachine }: RouterSources) {
    this.#components = { ...components, logger: components.logger.child('port-mappings') }
    this.#defaultRouter = ofMachine
    const found = (router: MappingRouter) => this.#found(router)
    this.client = {
      getGateway: () => client.getGateway(),
      async *findGateways(options) {
        for await (const router of client.findGateways(options)) {
          found(router)
          yield router
        }
      },
    }
  }

  /** Keeps a port mapped and tells where, after each change; the returned function ends it. */
  map(port: number, onMapped: OnMapped): () => void {
    if (this.#stopping.signal.aborted) return () => {}
    const nonce = mappingNonce(this.#components.random)
    const wish: Wish = { port, nonce, onMapped, mapped: new Map(), renewals: new Map() }
    this.#wishes.add(wish)
    for (const router of this.#routers.values()) void this.#askUpnp(wish, router)
    void this.#askDefault(wish)
    return () => void this.#end(wish)
  }

  /** Gives the mapped ports back to the routers. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the node stops'))
    await Promise.all([...this.#wishes].map((wish) => this.#end(wish)))
  }

  #found(router: MappingRouter): void {
    if (this.#routers.has(router.id) || this.#routers.size >= MAX_UPNP_ROUTERS) return
    this.#routers.set(router.id, router)
    for (const wish of this.#wishes) void this.#askUpnp(wish, router)
  }

  /** Maps the port and renews that: where it is outside, and this machine's own address, may be others by then. */
  async #askUpnp(wish: Wish, router: MappingRouter, failures = 0): Promise<void> {
    const { clock } = this.#components
    if (!this.#wishes.has(wish)) return
    const { port } = wish
    let failed = 0
    try {
      const mapping = await this.#askInTime(async (signal) => {
        const host = await ownAddressTowards(router.host, signal)
        return router.mapPort({ protocol: 'UDP', port, host, external: port }, signal)
      })
      this.#mapped(wish, router.id, mapping)
    } catch (error) {
      this.#mapped(wish, router.id, undefined)
      this.#log('upnp', error)
      failed = failures + 1
    }
    if (failed >= UPNP_FAILURES) this.#routers.delete(router.id)
    if (!this.#wishes.has(wish) || this.#routers.get(router.id) !== router) return
    const again = () => void this.#askUpnp(wish, router, failed)
    wish.renewals.set(router.id, clock.after(UPNP_RENEW_MS, again))
  }

  #askInTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.#components
    const reason = () => new Error('the router does not answer')
    const within = { clock, ms: UPNP_ANSWER_MS, reason, signal: this.#stopping.signal }
    return withDeadline(within, ask)
  }

  async #askDefault(wish: Wish): Promise<void> {
    const { clock } = this.#components
    const router = this.#defaultRouter()
    let waitMs = PORT_MAPPING_RETRY_MS
    try {
      if (router !== undefined) {
        const { port, nonce } = wish
        const { signal } = this.#stopping
        const init = { router, port, nonce, lifetimeS: PORT_MAPPING_LIFETIME_S, signal }
        const { lifetimeS, ...mapping } = await askForMapping(init, clock)
        this.#mapped(wish, DEFAULT_ROUTER, mapping)
        waitMs = Math.max(PORT_MAPPING_RETRY_MS, lifetimeS * 500)
      }
    } catch (error) {
      this.#mapped(wish, DEFAULT_ROUTER, undefined)
      this.#log('port control', error)
    }
    const again = () => void this.#askDefault(wish)
    if (this.#wishes.has(wish)) wish.renewals.set(DEFAULT_ROUTER, clock.after(waitMs, again))
  }

  #mapped(wish: Wish, router: string, mapping: PortMapping | undefined): void {
    const before = wish.mapped.get(router)
    const isSame = before?.address === mapping?.address && before?.port === mapping?.port
    if (isSame || !this.#wishes.has(wish)) return
    if (mapping === undefined) wish.mapped.delete(router)
    else wish.mapped.set(router, mapping)
    this.#components.logger.debug('port mapped', { port: wish.port, router, ...mapping })
    wish.onMapped([...wish.mapped.values()])
  }

  async #end(wish: Wish): Promise<void> {
    if (!this.#wishes.delete(wish)) return
    for (const cancel of wish.renewals.values()) cancel()
    const { clock } = this.#components
    const reason = () => new Error('the router does not answer')
    const ending = withDeadline({ clock, ms: STOP_MAPPING_MS, reason }, (signal) => this.#unmap(wish, signal))
    // what is left ends with its lifetime
    await ending.catch((error: unknown) => this.#log('unmap', error))
  }

  async #unmap({ port, nonce, mapped }: Wish, signal: AbortSignal): Promise<void> {
    const router = this.#defaultRouter()
    await Promise.all([
      ...[...this.#routers.values()].map((at) => at.unmapPort('UDP', port, signal)),
      ...(router !== undefined && mapped.has(DEFAULT_ROUTER)
        ? [askForMapping({ router, port, nonce, lifetimeS: 0, signal }, this.#components.clock)]
        : []),
    ])
  }

  #log(way: string, error: unknown): void {
    if (!this.#stopping.signal.aborted)
      this.#components.logger.debug('port not mapped', { way, reason: String(error) })
  }
}

function portControlRouter(): PortMapping | undefined {
  const address = defaultRouter()
  return address && { address, port: PORT_CONTROL_PORT }
}
