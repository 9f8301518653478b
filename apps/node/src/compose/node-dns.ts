/**
 * The DNS of a node: loaded when a server is asked for, or a name is tested. An address that cannot be had, as a port
 * in use, is tried again and shown in health.
 */
import type { HealthProblem } from '@mesh/api-server'
import {
  type Cidr,
  type Clock,
  type Logger,
  MeshError,
  type Random,
  tryParseAddressInRange,
} from '@mesh/core'
import type { Dns, DnsInit, DnsStatus, ForwardServer } from '@mesh/dns'
import type { Ledger } from '@mesh/ledger'
import { type DnsPlace, parseDnsPlace, parseForwardPlace, parseZone } from '../settings/dns-values.ts'
import type { Settings } from '../settings/options.ts'
import { DEFAULT_VPN_RANGE, valuesOf } from '../settings/vpn-values.ts'
import type { Network } from '../state/network.ts'
import { ownAddresses } from '../machine/own-addresses.ts'
import { systemServers, watchSystemServers } from '../resolver/system-servers.ts'

/** A listener that failed is tried again after this time. */
const REOPEN_AFTER_MS = 10_000

export interface NodeDnsInit {
  readonly settings: Settings
  readonly network: Network
  readonly hasVpn: boolean
  /** The folder of all instances. */
  readonly stateDir: string
}

export interface NodeDnsComponents {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface NodeDns extends Pick<Dns, 'explain'> {
  /**
   * Listens wherever `--dns` says. With `isNeeded` the first address that cannot be had rejects.
   * @param onOpen called for each address
   */
  listen(isNeeded: boolean, onOpen: (host: string, port: number) => void): Promise<void>
  status(): DnsStatus | undefined
  problems(): readonly HealthProblem[]
  /** Sets a further problem that a person should know of; undefined takes it back. */
  setProblem(problem: HealthProblem | undefined): void
  stop(): Promise<void>
}

export function createNodeDns(init: NodeDnsInit, components: NodeDnsComponents): NodeDns {
  return new LazyDns(init, components)
}

class LazyDns implements NodeDns {
  readonly #init: NodeDnsInit
  readonly #components: NodeDnsComponents
  readonly #failed = new Map<DnsPlace, MeshError>()
  #loading: Promise<Dns> | undefined
  #dns: Dns | undefined
  #problem: HealthProblem | undefined
  #cancelRetry = () => {}
  #unwatch = () => {}
  #stopped = false

  constructor(init: NodeDnsInit, components: NodeDnsComponents) {
    this.#init = init
    this.#components = components
  }

  async explain(name: string, type: number) {
    const dns = await this.#load()
    return dns.explain(name, type)
  }

  async listen(isNeeded: boolean, onOpen: (host: string, port: number) => void): Promise<void> {
    const dns = await this.#load()
    for (const place of valuesOf(this.#init.settings.dns, parseDnsPlace)) {
      await this.#open(dns, place, onOpen).catch((error: unknown) => {
        if (isNeeded || !(error instanceof MeshError)) throw error
        this.#components.log.warn(error.message, { hint: error.hint })
        this.#failed.set(place, error)
      })
    }
    this.#retryLater(dns, onOpen)
  }

  status(): DnsStatus | undefined {
    const status = this.#dns?.status()
    return status === undefined || status.listening.length === 0 ? undefined : status
  }

  problems(): readonly HealthProblem[] {
    const failed = [...this.#failed.values()].map(({ code, message, hint = '' }) => {
      return { code, severity: 'error' as const, title: message, hint }
    })
    const other = this.#problem === undefined ? [] : [this.#problem]
    return [...failed, ...other, ...(this.#dns?.problems() ?? [])]
  }

  setProblem(problem: HealthProblem | undefined): void {
    this.#problem = problem
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelRetry()
    this.#unwatch()
    await this.#dns?.stop()
  }

  async #open(dns: Dns, place: DnsPlace, onOpen: (host: string, port: number) => void): Promise<void> {
    const { host, port } = await dns.listen(place)
    onOpen(host, port)
  }

  #retryLater(dns: Dns, onOpen: (host: string, port: number) => void): void {
    if (this.#failed.size === 0 || this.#stopped) return
    this.#cancelRetry = this.#components.clock.after(REOPEN_AFTER_MS, () => {
      const tries = [...this.#failed.keys()].map((place) =>
        this.#open(dns, place, onOpen).then(
          () => void this.#failed.delete(place),
          () => {},
        ),
      )
      void Promise.all(tries).then(() => this.#retryLater(dns, onOpen))
    })
  }

  #load(): Promise<Dns> {
    this.#loading ??= openDns(this.#init, this.#components).then((dns) => {
      this.#follow(dns)
      return (this.#dns = dns)
    })
    return this.#loading
  }

  /** The servers of the machine change with the network that it is in. */
  #follow(dns: Dns): void {
    const { settings } = this.#init
    if (this.#stopped || !settings.dnsForwarder || !asksMachine(settings)) return
    this.#unwatch = watchSystemServers(() => dns.forwardTo(forwardServers(this.#init, this.#components.log)))
  }
}

async function openDns(init: NodeDnsInit, components: NodeDnsComponents): Promise<Dns> {
  const [{ createDns }, { deriveIpv6Range }] = await Promise.all([import('@mesh/dns'), import('@mesh/vpn')])
  const { config } = init.network
  const derived = deriveIpv6Range({ key: config.crypto.key, room: config.room })
  const log = components.log.child('dns')
  return createDns(dnsInit(init, derived, log), { ...components, log, ownAddresses })
}

/** Gives DNS what it is told of the settings. */
function dnsInit(init: NodeDnsInit, derived: Cidr, log: Logger): DnsInit {
  const { settings, hasVpn } = init
  const given = settings.address.flatMap((text) => tryParseAddressInRange(text)?.range ?? [])
  const ranges = [
    ...(given.length === 0 ? [tryParseAddressInRange(DEFAULT_VPN_RANGE)?.range] : given),
    derived,
  ]
  const ownRanges = ranges.flatMap((range) => range ?? [])
  const [zone = 'mesh.'] = valuesOf([settings.dnsZone], parseZone)
  return {
    zone,
    ownRanges,
    // a node without the VPN need not know which range the others use
    ...((hasVpn || given.length > 0) && { hostRanges: ownRanges }),
    livenessMs: settings.ownershipTtl,
    forward: settings.dnsForwarder
      ? { servers: forwardServers(init, log), cacheEntries: settings.dnsCacheSize }
      : undefined,
  }
}

/** Where none is given for all names, those that this machine uses. */
function forwardServers({ settings, stateDir }: NodeDnsInit, log: Logger): readonly ForwardServer[] {
  const given = givenServers(settings)
  const usesExit = settings.exitNode !== undefined
  return asksMachine(settings) ? [...given, ...systemServers({ stateDir, usesExit, log })] : given
}

function asksMachine(settings: Settings): boolean {
  return !givenServers(settings).some(({ domain }) => domain === '.')
}

function givenServers({ dnsForwardServer }: Settings): readonly ForwardServer[] {
  return valuesOf(dnsForwardServer, parseForwardPlace)
}
