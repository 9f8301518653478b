/**
 * The VPN of one node. Up: 1 what was asked for is checked; 2 libp2p keeps out of the VPN's ranges; 3 the interface;
 * 4 the tunnels to peers; 5 the table, which follows the ledger from here on; 6 this node's addresses, which may have to
 * be leased; 7 the networks behind it. Down: the reverse.
 */
import { type AddressInRange, type Cidr, type IpAddress, parseCidr, type PeerId, toError } from '@mesh/core'
import type { EngineEvent, EngineInterface } from '@mesh/engine'
import { checkNotTaken } from './addresses/check-addresses.ts'
import type { LeaseStore } from './addresses/lease.ts'
import { deriveIpv6, deriveIpv6Range } from './addresses/derive-ipv6.ts'
import { checkInit, type CheckedAgainst } from './check-init.ts'
import { type EngineSupervisor, openEngineSupervisor } from './engine-supervisor.ts'
import { vpnError } from './errors.ts'
import { DEFAULT_LIVENESS_MS, DEFAULT_MTU, MAX_TABLE_PEERS, PROBE_MS } from './limits.ts'
import { within } from './tunnels/errors.ts'
import { VPN_PROTOCOL } from './tunnels/limits.ts'
import { createTunnels, type Tunnels } from './tunnels/tunnels.ts'
import { createOwnAddresses, type OwnAddresses } from './own-addresses.ts'
import { announceRoutes } from './own-routes.ts'
import {
  addressTexts,
  interfaceLost,
  notForwarding,
  peerStatuses,
  problemOf,
  routesNotSet,
} from './status.ts'
import type { TableInput, VpnTable } from './table/build-table.ts'
import { buildEngineTable } from './table/engine-table.ts'
import { type TableWatch, watchTable } from './table/watch-table.ts'
import type {
  Vpn,
  VpnComponents,
  VpnEvent,
  VpnInit,
  VpnProbe,
  VpnProblem,
  VpnState,
  VpnStatus,
} from './vpn.ts'

/** Where addresses are leased when nothing else is said. */
const LEASE_RANGE = parseCidr('10.1.0.0/24')
/** Remembers nothing. */
const NO_STORE: LeaseStore = { read: () => undefined, write() {} }

export function createVpn(init: VpnInit, components: VpnComponents): Vpn {
  return new MeshVpn(init, { ...components, log: components.log.child('vpn') })
}

/** What stands while the VPN does. */
interface Parts {
  readonly supervisor: EngineSupervisor
  readonly tunnels: Tunnels
}

class MeshVpn implements Vpn {
  readonly #init: VpnInit
  readonly #components: VpnComponents
  readonly #derived: AddressInRange
  readonly #derivedAddresses = new Map<PeerId, IpAddress>()
  readonly #checked: CheckedAgainst
  /** This node's VPN ranges. */
  readonly #ranges: readonly Cidr[]
  readonly #own: OwnAddresses
  readonly #listeners = new Set<(event: VpnEvent) => void>()
  readonly #stopping = new AbortController()
  /** What starting began, to be undone in the reverse order. */
  readonly #ends: (() => void | Promise<void>)[] = []
  #stopped: Promise<void> | undefined
  #state: VpnState = 'starting'
  #hasStarted = false
  /** All that starting waits for is there. */
  #isUp = false
  #parts: Parts | undefined
  #watch: TableWatch | undefined
  #table: VpnTable | undefined
  #engineProblem: VpnProblem | undefined
  #addressesError: Error | undefined
  #routesError: Error | undefined
  #told = { addresses: '', routes: '', problems: '' }

  constructor(init: VpnInit, components: VpnComponents) {
    const { ledger, network, host, openLeaseFile } = components
    const { addresses: fixed, machine, lease } = init
    this.#init = init
    this.#components = components
    this.#derived = deriveIpv6(deriveIpv6Range(init.secret), ledger.self)
    const leaseRange = fixed.length > 0 ? undefined : (lease?.range.range ?? LEASE_RANGE)
    const ranges = leaseRange === undefined ? fixed.map(({ range }) => range) : [leaseRange]
    this.#checked = { host, ranges, derivedRange: this.#derived.range }
    this.#ranges = [...new Set([...ranges, this.#derived.range])]
    this.#own = createOwnAddresses(
      { derived: this.#derived, fixed, leaseRange, machine, onChange: () => this.#addressesChanged() },
      {
        ...components,
        store: lease?.file === undefined ? NO_STORE : openLeaseFile(lease.file),
        pastStore: lease?.pastFile === undefined ? NO_STORE : openLeaseFile(lease.pastFile),
        neighbours: () => this.#countNeighbours(),
        isOurs: (peer) => network.speaks(peer as PeerId, VPN_PROTOCOL) === true,
      },
    )
  }

  get interface(): EngineInterface | undefined {
    return this.#parts?.supervisor.interface
  }

  async start(given?: AbortSignal): Promise<void> {
    if (this.#hasStarted) throw vpnError('vpn.not_running', 'a VPN is started once')
    this.#hasStarted = true
    const signal =
      given === undefined ? this.#stopping.signal : AbortSignal.any([given, this.#stopping.signal])
    try {
      await this.#start(signal)
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  addresses(): readonly AddressInRange[] {
    const held = this.#table?.own
    return this.#own.all().filter(({ address }) => held === undefined || held.includes(address))
  }

  status(): VpnStatus {
    const table = this.#table
    const stats = this.#parts?.supervisor.stats()
    const tunnels = this.#parts?.tunnels
    return {
      state: this.#state,
      interface: this.interface,
      addresses: this.addresses(),
      peers: table && tunnels && stats ? peerStatuses(table, tunnels, stats) : [],
      device: stats?.device ?? { packetsIn: 0, bytesIn: 0, packetsOut: 0, bytesOut: 0, drops: {} },
      routes: { advertised: this.#init.advertiseRoutes ?? [], accepted: table?.accepted ?? [] },
      ignored: table?.ignored ?? {},
      refusals: tunnels?.refusals() ?? {},
    }
  }

  problems(): readonly VpnProblem[] {
    const { ledger, host, clock } = this.#components
    const { leaseError } = this.#own
    return [
      ...(this.#engineProblem === undefined ? [] : [this.#engineProblem]),
      ...[this.#addressesError, leaseError].flatMap((error) =>
        error === undefined ? [] : [problemOf(error)],
      ),
      ...(this.#isUp
        ? checkNotTaken(this.#own.all(), ledger, clock.now()).map((error) => problemOf(error))
        : []),
      ...(this.#routesError === undefined ? [] : [routesNotSet(this.#routesError)]),
      ...(this.#parts === undefined ? [] : notForwarding(this.#init.advertiseRoutes ?? [], host)),
      ...(this.#table?.problems ?? []),
    ]
  }

  async probe(peer: PeerId, given?: AbortSignal): Promise<VpnProbe> {
    const { tunnels } = this.#running()
    if (this.#table?.peers.has(peer) !== true) {
      throw vpnError('vpn.unknown_peer', `${peer} has no machine in this VPN`, {
        hint: 'The bucket `machines` of the ledger lists them.',
      })
    }
    const stopped = this.#stopping.signal
    const signal = given === undefined ? stopped : AbortSignal.any([given, stopped])
    const { clock } = this.#components
    const found = await within({ clock, ms: PROBE_MS, signal }, (limited) => tunnels.probe(peer, limited))
    return { peer, tunnel: tunnels.status(peer).kind, ...found }
  }

  subscribe(listener: (event: VpnEvent) => void): () => void {
    const own = (event: VpnEvent) => listener(event)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#stopping.abort(vpnError('vpn.stopped', 'the VPN was stopped'))
    for (const end of this.#ends.splice(0).reverse()) await end()
    this.#parts = undefined
    this.#watch = undefined
    this.#enter('stopped')
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { network } = this.#components
    const { advertiseRoutes = [] } = this.#init
    signal.throwIfAborted()
    checkInit(this.#init, this.#checked)
    network.blockRanges(this.#ranges)
    this.#ends.push(() => network.blockRanges([]))
    const { tunnels } = (this.#parts = this.#openParts())
    await tunnels.start()
    signal.throwIfAborted()
    const watch = watchTable(
      {
        read: () => this.#tableInput(),
        followsRoutes: this.#acceptsRoutes(),
        onTable: (table) => this.#apply(table),
      },
      this.#components,
    )
    this.#watch = watch
    this.#ends.push(() => watch.stop())
    if (this.#own.leasing) this.#enter('leasing')
    this.#ends.push(() => this.#own.stop())
    await this.#own.start(signal)
    signal.throwIfAborted()
    this.#ends.push(announceRoutes(advertiseRoutes, this.#components))
    this.#isUp = true
    this.#enter(this.#own.leasing ? 'leasing' : 'running')
    this.#tellProblems()
  }

  #openParts(): Parts {
    const { openEngine, clock, random, log, ledger, network } = this.#components
    const { interface: name, mtu = DEFAULT_MTU, secret } = this.#init
    const privateKey = random.bytes(32)
    const supervisor = openEngineSupervisor(
      {
        name,
        mtu,
        privateKey,
        addresses: this.#own.all(),
        onEvent: (event) => this.#engineEvent(event),
        onLost: (error) => this.#interfaceLost(error),
        onReopened: () => this.#interfaceBack(),
      },
      { openEngine, clock, log },
    )
    this.#ends.push(() => supervisor.close())
    this.#told.addresses = addressTexts(this.#own.all())
    const tunnels = createTunnels(
      { self: ledger.self, privateKey, networkKey: secret.key, mtu },
      { network, engine: supervisor.engine, onTunnels: () => this.#setEngineTable(), clock, random, log },
    )
    this.#ends.push(() => tunnels.stop())
    return { supervisor, tunnels }
  }

  #tableInput(): TableInput {
    const { ledger, clock, host } = this.#components
    const { livenessMs = DEFAULT_LIVENESS_MS, staticPeers = [], router, advertiseRoutes = [] } = this.#init
    const { acceptRoutes = false, acceptRoutesFrom = [] } = this.#init
    const prefix = this.#derived.range
    const ownInterface = this.interface?.name ?? this.#init.interface
    return {
      snapshot: ledger.snapshot(),
      now: clock.now(),
      self: ledger.self,
      mode: ledger.mode,
      livenessMs,
      own: this.#own.all().map(({ address }) => address),
      ranges: this.#ranges,
      derived: { prefix, addressOf: (peer) => this.#derivedOf(peer) },
      staticPeers,
      router,
      accept: { any: acceptRoutes, from: new Set(acceptRoutesFrom) },
      advertised: advertiseRoutes,
      connected: host
        .networks()
        .filter((network) => network.interface !== ownInterface)
        .map(({ address }) => address.range),
      remotes: this.#acceptsRoutes() ? host.remoteAddresses() : [],
    }
  }

  /** Remembered: a table asks for thousands. */
  #derivedOf(peer: PeerId): IpAddress {
    let address = this.#derivedAddresses.get(peer)
    if (address === undefined) {
      if (this.#derivedAddresses.size >= 2 * MAX_TABLE_PEERS) this.#derivedAddresses.clear()
      address = deriveIpv6(this.#derived.range, peer).address
      this.#derivedAddresses.set(peer, address)
    }
    return address
  }

  #acceptsRoutes(): boolean {
    const { acceptRoutes = false, acceptRoutesFrom = [] } = this.#init
    return acceptRoutes || acceptRoutesFrom.length > 0
  }

  /** Gives a table to the tunnels, the engine, the kernel and libp2p. */
  #apply(table: VpnTable): void {
    this.#table = table
    const parts = this.#parts
    if (parts === undefined) return
    this.#setAddresses(parts.supervisor)
    parts.tunnels.setPeers(table.peers.keys())
    this.#setEngineTable()
    const routes = table.kernelRoutes.join()
    if (routes !== this.#told.routes) {
      this.#told.routes = routes
      // first, so that no connection is made by way of the VPN itself
      this.#components.network.blockRanges([...this.#ranges, ...table.kernelRoutes])
      this.#routesError = parts.supervisor.setRoutes(table.kernelRoutes)
    }
    this.#tellProblems()
  }

  #setAddresses(supervisor: EngineSupervisor): void {
    const addresses = this.addresses()
    const text = addressTexts(addresses)
    if (text === this.#told.addresses) return
    this.#told.addresses = text
    try {
      supervisor.setAddresses(addresses)
      this.#addressesError = undefined
    } catch (error) {
      this.#components.log.error('addresses not set', { error })
      this.#addressesError = toError(error)
    }
    if (this.#isUp) this.#emit({ type: 'addresses', addresses })
  }

  #setEngineTable(): void {
    const [table, parts] = [this.#table, this.#parts]
    if (table === undefined || parts === undefined) return
    const { supervisor, tunnels } = parts
    const tunnelOf = (peer: PeerId) => ({ tunnel: tunnels.tunnelOf(peer), mtu: tunnels.mtuOf(peer) })
    const { advertiseRoutes: advertised = [] } = this.#init
    try {
      supervisor.setTable(buildEngineTable(table, { own: table.own, advertised, tunnelOf }))
    } catch (error) {
      this.#components.log.error('table not set', { error })
    }
  }

  #addressesChanged(): void {
    this.#watch?.rebuild()
    if (!this.#isUp) return
    if (this.#state !== 'failed') this.#enter(this.#own.leasing ? 'leasing' : 'running')
    this.#tellProblems()
  }

  #engineEvent(event: EngineEvent): void {
    this.#parts?.tunnels.engineEvent(event)
    if (event.type === 'session' || event.type === 'silent') this.#emit(event)
  }

  #interfaceLost(error: Error | undefined): void {
    const { clock } = this.#components
    this.#engineProblem = interfaceLost(this.#init.interface, error, clock.now())
    if (error !== undefined) this.#enter('failed')
    this.#tellProblems()
  }

  #interfaceBack(): void {
    this.#engineProblem = undefined
    // the new interface has none
    this.#told.routes = ''
    this.#watch?.rebuild()
    this.#tellProblems()
  }

  /** Members that a claim has to reach: those connected whom the ledger knows. */
  #countNeighbours(): number {
    const { ledger, network } = this.#components
    let count = 0
    for (const { key, entry } of ledger.snapshot().entries('healthcheck')) {
      if (!entry.deleted && network.pathOf(key as PeerId) !== undefined) count++
    }
    return Math.max(count, network.channels.peersWith(VPN_PROTOCOL).length)
  }

  #running(): Parts {
    if (this.#parts === undefined) throw vpnError('vpn.not_running', 'the VPN does not run')
    return this.#parts
  }

  #enter(state: VpnState): void {
    if (state === this.#state) return
    this.#state = state
    this.#emit({ type: 'state', state })
  }

  #tellProblems(): void {
    const text = JSON.stringify(this.problems())
    if (text === this.#told.problems) return
    this.#told.problems = text
    this.#emit({ type: 'problems' })
  }

  #emit(event: VpnEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        this.#components.log.error('listener of the VPN failed', { event: event.type, error })
      }
    }
  }
}
