/**
 * Joins the parts: names as the ledger says, the forwarder, and a responder that UDP and TCP listeners share. Nothing
 * listens until `listen`, and `explain` works without.
 */
import {
  type AddressListener,
  type Cidr,
  delay,
  isLoopback,
  listenAtEachAddress,
  parseCidr,
} from '@mesh/core'
import { loopBudget, Scope } from '@mesh/core/limits'
import { LRUCache } from 'lru-cache'
import type { BoundAddress, DnsComponents, DnsInit, DnsListenAddress, DnsProblem, DnsStatus } from './dns.ts'
import { dnsError } from './errors.ts'
import { explainName, type NameExplanation } from './explain.ts'
import { Forwarder } from './forwarder/forwarder.ts'
import { hostOf, whereOf } from './forwarder/exchange.ts'
import type { ForwardServer } from './forwarder/servers.ts'
import { createKnownNames, type KnownNames } from './known-names.ts'
import { MAX_FORWARD_SERVERS, MAX_RATED_NETWORKS, TCP_CONNECTIONS } from './limits.ts'
import { canonicalName } from './names.ts'
import { findDnsProblems } from './problems.ts'
import { type Client, clientOf } from './server/clients.ts'
import { Responder, type Outcome, OUTCOMES } from './server/responder.ts'
import { openTcpServer } from './server/tcp-server.ts'
import { zonesOf } from './zone/build-zone.ts'
import { createResponseRates, openUdpServer } from './server/udp-server.ts'

const DEFAULT_ZONE = 'mesh.'
const DEFAULT_LIVENESS_MS = 480_000
const PRIVATE_RANGES = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'].map(
  parseCidr,
)
const WILDCARDS = ['0.0.0.0', '::']
/** Two sockets may not get the same free port at once. */
const PORT_TRIES = 10
/** Slices that one explanation takes at most. */
const MAX_EXPLAIN_SLICES = 200

export function createDns(init: DnsInit, components: DnsComponents): Dns {
  return new Dns(init, components)
}

export class Dns {
  readonly #init: DnsInit
  readonly #components: DnsComponents
  readonly #names: KnownNames
  #servers: readonly ForwardServer[]
  readonly #bound: (BoundAddress & { readonly ends: readonly AddressListener[] })[] = []
  readonly #outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>
  readonly #connections = new Scope(TCP_CONNECTIONS)
  readonly #rates
  readonly #clients = new LRUCache<string, Client>({ max: MAX_RATED_NETWORKS })
  readonly #ownRanges: readonly Cidr[]
  /** Asks those of `#servers` that are not this server itself. */
  #forwarder: Forwarder | undefined
  #responder: Responder
  #looped: readonly ForwardServer[] = []
  /** The servers of `#forwarder`, as text. */
  #asked = ''

  constructor(init: DnsInit, components: DnsComponents) {
    this.#init = init
    this.#components = components
    this.#ownRanges = init.ownRanges ?? []
    this.#servers = init.forward?.servers.slice(0, MAX_FORWARD_SERVERS) ?? []
    this.#rates = createResponseRates(components.clock)
    this.#names = createKnownNames(
      {
        zone: init.zone ?? DEFAULT_ZONE,
        hostRanges: init.hostRanges ?? PRIVATE_RANGES,
        ownRanges: this.#ownRanges,
        livenessMs: init.livenessMs ?? DEFAULT_LIVENESS_MS,
      },
      components,
    )
    this.#responder = this.#makeResponder()
    this.#chooseServers()
  }

  /** Rejects with MeshError `dns.cannot_listen`; then nothing of this address is left. */
  async listen(address: DnsListenAddress): Promise<BoundAddress> {
    const hosts = address.host === undefined ? WILDCARDS : [address.host]
    const ends: AddressListener[] = []
    let { port } = address
    try {
      for (const host of hosts) {
        try {
          const opened = await this.#open(host, port)
          ends.push(...opened)
          port = opened[0]?.port ?? port
        } catch (error) {
          // a machine without IPv6 has no `::`
          if (host !== '::' || hosts.length === 1 || !isMissingFamily(error)) throw error
        }
      }
    } catch (error) {
      await Promise.all(ends.map((end) => end.stop()))
      throw cannotListen(hosts[0] ?? '', port, error)
    }
    const bound = { host: hosts[0] ?? '', port, ends }
    this.#bound.push(bound)
    this.#chooseServers()
    this.#components.log.info('dns listening', { host: bound.host, port })
    return { host: bound.host, port }
  }

  /**
   * Who would answer a question, and why not somebody else.
   *
   * @param type number of the record type, 1 for A
   * @throws MeshError `dns.bad_question`, `dns.busy`
   */
  async explain(name: string, type: number): Promise<NameExplanation> {
    const canonical = canonicalName(name)
    if (canonical === undefined) {
      throw dnsError('dns.bad_question', `no name of DNS: ${JSON.stringify(name.slice(0, 80))}`)
    }
    for (let slice = 0; slice < MAX_EXPLAIN_SLICES; slice++) {
      const names = this.#names.current()
      const domainOf = (each: string) => this.#forwarder?.domainOf(each)
      const explained =
        names && explainName({ name: canonical, type }, { names, domainOf, servers: this.#servers })
      if (explained !== undefined) return explained
      await delay(this.#components.clock, 0)
    }
    throw dnsError('dns.busy', 'the names and patterns of the ledger take too long to try')
  }

  status(): DnsStatus {
    const { zone = DEFAULT_ZONE } = this.#init
    const names = this.#names.current()
    return {
      zone,
      zones: zonesOf({ zone, ownRanges: this.#ownRanges }),
      listening: this.#bound.map(({ host, port }) => ({ host, port })),
      outcomes: { ...this.#outcomes },
      names: {
        automatic: names?.zone.names.size ?? 0,
        patterns: names?.patterns.used ?? 0,
        ignoredPatterns: names?.patterns.ignored ?? 0,
      },
      forwarder: this.#forwarder?.status(),
    }
  }

  /** The problems that a person should know of, with what to do. */
  problems(): readonly DnsProblem[] {
    return findDnsProblems({
      status: this.status(),
      looped: this.#looped,
      wantsForwarding: this.#init.forward !== undefined,
      now: this.#components.clock.now(),
    })
  }

  /** Passes questions on to these servers from now on: this machine may be in another network. Needs `forward`. */
  forwardTo(servers: readonly ForwardServer[]): void {
    this.#servers = servers.slice(0, MAX_FORWARD_SERVERS)
    this.#chooseServers()
  }

  /** Closes all listeners. Idempotent. */
  async stop(): Promise<void> {
    this.#names.stop()
    this.#forwarder?.stop()
    await Promise.all(this.#bound.splice(0).flatMap(({ ends }) => ends.map((end) => end.stop())))
  }

  /** UDP, and TCP on the same port. */
  async #open(host: string, port: number): Promise<readonly AddressListener[]> {
    const connections = this.#connections
    const { clock } = this.#components
    for (let tries = 1; ; tries++) {
      const udp = await this.#openUdp(host, port)
      try {
        const tcp = await openTcpServer({ host, port: udp.port }, { ...this.#served, clock, connections })
        return [udp, tcp]
      } catch (error) {
        await udp.stop()
        if (port !== 0 || tries === PORT_TRIES) throw error
      }
    }
  }

  #openUdp(host: string, port: number): Promise<AddressListener> {
    const components = { ...this.#served, rates: this.#rates }
    const { ownAddresses, clock, log } = this.#components
    if (ownAddresses === undefined || !isWildcard(host)) return openUdpServer({ host, port }, components)
    const isOfFamily = (address: string) => address.includes(':') === host.includes(':')
    return listenAtEachAddress({
      addresses: () => ownAddresses().filter(isOfFamily),
      port,
      open: (each, at) => openUdpServer({ host: each, port: at }, components),
      clock,
      onChange: () => this.#chooseServers(),
      onRefused: (address, error) => log.warn('dns not listening at a new address', { address, port, error }),
    })
  }

  get #served() {
    const responder = {
      respond: (request: Parameters<Responder['respond']>[0]) => this.#responder.respond(request),
    }
    return { responder, clientOf: this.#clientOf, count: this.#count }
  }

  readonly #count = (outcome: Outcome): void => {
    this.#outcomes[outcome]++
  }

  readonly #clientOf = (address: string): Client => {
    let client = this.#clients.get(address)
    if (client === undefined) {
      client = clientOf(address, this.#ownRanges)
      this.#clients.set(address, client)
    }
    return client
  }

  #makeForwarder(servers: readonly ForwardServer[]): Forwarder | undefined {
    const { forward } = this.#init
    if (forward === undefined || servers.length === 0) return undefined
    return new Forwarder({ ...forward, servers }, this.#components)
  }

  #makeResponder(): Responder {
    return new Responder({
      names: this.#names,
      forwarder: this.#forwarder,
      budget: loopBudget(this.#components.clock),
      count: this.#count,
    })
  }

  /** Leaves out a server that is this one: it would ask itself, again and again. */
  #chooseServers(): void {
    const own = new Set(this.#components.ownAddresses?.() ?? [])
    const isItself = (server: ForwardServer) =>
      this.#bound.some((bound) => bound.port === server.port && leadsTo(hostOf(server), bound.host, own))
    this.#looped = this.#servers.filter(isItself)
    const servers = this.#servers.filter((server) => !isItself(server))
    const asked = servers.map((server) => `${server.domain} ${whereOf(server)}`).join()
    if (asked === this.#asked) return
    this.#asked = asked
    // questions that the earlier servers were asked are still answered
    this.#forwarder = this.#makeForwarder(servers)
    this.#responder = this.#makeResponder()
  }
}

/** Does a packet to the address reach what is bound to the host? A wildcard as an address means this machine. */
function leadsTo(address: string, bound: string, own: ReadonlySet<string>): boolean {
  if (address === bound) return true
  if (isWildcard(bound)) return isWildcard(address) || isLoopback(address) || own.has(address)
  return isWildcard(address) && isLoopback(bound)
}

function isWildcard(host: string): boolean {
  return WILDCARDS.includes(host)
}

function isMissingFamily(error: unknown): boolean {
  return ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'].includes(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

const HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'Another program answers DNS there (dnsmasq, systemd-resolved); stop it, or choose another address or port.',
  EACCES: 'Ports below 1024 need root or CAP_NET_BIND_SERVICE; another port needs neither.',
  EADDRNOTAVAIL: 'This machine has no such address now.',
}

function cannotListen(host: string, port: number, cause: unknown) {
  const code = codeOf(cause)
  const where = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  return dnsError('dns.cannot_listen', `cannot answer DNS at ${where} (${code || String(cause)})`, {
    cause,
    hint: HINTS[code] ?? 'Choose another address or port.',
    details: { host, port, code },
  })
}
