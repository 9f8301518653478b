/**
 * The VPN of one node. Start:
 *
 * 1. Check what was asked for.
 * 2. Keep libp2p out of the VPN's ranges.
 * 3. Open the interface, then the tunnels to peers.
 * 4. Follow the ledger with the table.
 * 5. Take this node's addresses, by a lease where needed, and the networks behind it.
 *
 * Stop: the reverse.
 */
import { type AddressInRange, type Cidr, type PeerId, untilAborted } from '@mesh/core'
import type { EngineEvent, EngineInterface, PacketRules } from '@mesh/engine'
import {
  type AddedGuest,
  type GuestRequest,
  type GuestStatus,
  NO_STORE,
  type Vpn,
  type VpnComponents,
  type VpnEvent,
  type VpnInit,
  type VpnProbe,
  type VpnProblem,
  type VpnState,
  type VpnStatus,
} from './vpn.ts'
import { ownRanges } from './addresses/own-ranges.ts'
import { TableApplier } from './apply-table.ts'
import { checkInit, type CheckedAgainst } from './check-init.ts'
import { EngineSupervisor } from './engine-supervisor.ts'
import { unknownPeer, vpnError } from './errors.ts'
import { OwnExit } from './exit.ts'
import { OwnRules } from './rules/own-rules.ts'
import { findProblems, listNeighbours } from './find-problems.ts'
import { guestMtuOf, Guests, openOnPort } from './guests/guests.ts'
import { DEFAULT_MTU, MIN_IPV6_MTU, PROBE_MS } from './limits.ts'
import { VPN_PROTOCOL } from './wire/limits.ts'
import { OwnAddresses } from './own-addresses.ts'
import { announceRoutes, hasExit, ownRoutesStatus, receivedRanges, routedRanges } from './own-routes.ts'
import { ProviderReach } from './provider-reach.ts'
import { vpnStatus } from './status.ts'
import { contestedIn, type VpnTable } from './table/build-table.ts'
import { tableInputs, takesRoutes } from './table/table-input.ts'
import { TableWatch } from './table/watch-table.ts'
import { within } from './streams/tunnel-error.ts'
import { Tunnels } from './tunnels/tunnels.ts'
import { VpnListeners } from './vpn-listeners.ts'

export function createVpn(init: VpnInit, components: VpnComponents): Vpn {
  return new MeshVpn(init, { ...components, log: components.log.child('vpn') })
}

/** The parts that stand while the VPN does. */
interface Parts {
  readonly supervisor: EngineSupervisor
  readonly tunnels: Tunnels
  readonly applier: TableApplier
}

class MeshVpn implements Vpn {
  readonly #init: VpnInit
  readonly #components: VpnComponents
  readonly #checked: CheckedAgainst
  /** This node's VPN ranges. */
  readonly #ranges: readonly Cidr[]
  readonly #own: OwnAddresses
  readonly #guests: Guests
  readonly #exit: OwnExit
  readonly #reach: ProviderReach
  readonly #rules: OwnRules
  readonly #listeners: VpnListeners
  readonly #stopping = new AbortController()
  /** The steps that undo what starting began, in the reverse order. */
  readonly #ends: (() => void | Promise<void>)[] = []
  #stopped: Promise<void> | undefined
  #state: VpnState = 'starting'
  #hasStarted = false
  /** All that starting waits for is there. */
  #isUp = false
  #parts: Parts | undefined
  #watch: TableWatch | undefined
  #table: VpnTable | undefined

  constructor(init: VpnInit, components: VpnComponents) {
    const { ledger, network, host, openLeaseFile } = components
    const { addresses: fixed, machine, lease } = init
    this.#init = init
    this.#components = components
    this.#listeners = new VpnListeners(components.log)
    const { derived, leaseRange, given } = ownRanges(init, ledger.self)
    const takesIpv6 = host.hasIpv6() && (init.mtu ?? DEFAULT_MTU) >= MIN_IPV6_MTU
    this.#checked = { host, ranges: given, derivedRange: derived.range, takesIpv6 }
    this.#ranges = [...new Set([...given, derived.range])]
    this.#own = new OwnAddresses(
      {
        derived,
        takesIpv6,
        fixed,
        leaseRange,
        machine,
        guests: () => this.#guests.addresses(),
        onChange: () => this.#addressesChanged(),
      },
      {
        ...components,
        store: lease?.file === undefined ? NO_STORE : openLeaseFile(lease.file),
        pastStore: lease?.pastFile === undefined ? NO_STORE : openLeaseFile(lease.pastFile),
        neighbours: () => listNeighbours(this.#components),
        isOurs: (peer) => network.speaks(peer as PeerId, VPN_PROTOCOL) === true,
      },
    )
    this.#guests = new Guests(
      {
        options: init,
        ranges: this.#ranges,
        derivedRange: this.#checked.derivedRange,
        own: this.#own,
        accepted: () => this.#table?.accepted ?? [],
        udpPort: () => this.#parts?.supervisor.engine.udpPort,
        candidates: () => this.#parts?.tunnels.candidates() ?? [],
        hasExit: () => hasExit(this.#init, this.#table),
        counters: () => this.#parts?.supervisor.stats().guests ?? new Map(),
        neighbours: () => listNeighbours(this.#components).length,
        onChange: () => this.#watch?.rebuild(),
      },
      { ...components, store: components.guestStore ?? NO_STORE },
    )
    this.#rules = new OwnRules(
      {
        ...init,
        engine: () => this.#parts?.supervisor,
        onChange: () => this.#rulesChanged(),
        onRefusals: (refusals) => this.#listeners.emit({ type: 'refusals', refusals }),
      },
      components,
    )
    this.#exit = new OwnExit(init.exitNode, {
      ...components,
      store: components.exitStore ?? NO_STORE,
      tunnels: () => this.#parts?.tunnels,
      onChange: () => this.#tellProblems(),
    })
    this.#reach = new ProviderReach({
      ...components,
      tunnels: () => this.#parts?.tunnels,
      onChange: () => this.#watch?.rebuild(),
    })
    this.#ends.push(() => this.#reach.stop())
  }

  guests(): readonly GuestStatus[] {
    return this.#guests.list()
  }

  async addGuest(request: GuestRequest, given?: AbortSignal): Promise<AddedGuest> {
    this.#running()
    return this.#guests.add(request, this.#untilStopped(given))
  }

  removeGuest(name: string): void {
    this.#running()
    this.#guests.remove(name)
  }

  setExitNode(wanted: string | undefined): void {
    this.#exit.change(wanted)
    this.#watch?.rebuild()
  }

  setRules(rules: PacketRules | undefined): void {
    this.#rules.set(rules)
  }

  announceAgain(): void {
    this.#own.announceAgain()
    this.#tellProblems()
  }

  get interface(): EngineInterface | undefined {
    return this.#parts?.supervisor.interface
  }

  async start(given?: AbortSignal): Promise<void> {
    if (this.#hasStarted) throw vpnError('vpn.not_running', 'a VPN is started once')
    this.#hasStarted = true
    const signal = this.#untilStopped(given)
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
    return vpnStatus({
      state: this.#state,
      interface: this.interface,
      addresses: this.addresses(),
      exit: this.#exit.status(),
      rules: this.#rules.status(),
      init: this.#init,
      ownRoutes: ownRoutesStatus(this.#init, this.#components),
      table: this.#table,
      tunnels: this.#parts?.tunnels,
      stats: this.#parts?.supervisor.stats(),
    })
  }

  problems(): readonly VpnProblem[] {
    return findProblems({
      ...this.#components,
      interfaceProblem: this.#parts?.supervisor.interfaceProblem,
      ranges: this.#checked.ranges,
      own: this.#own,
      applier: this.#parts?.applier,
      isUp: this.#isUp,
      tunnels: this.#parts?.tunnels,
      init: this.#init,
      guests: this.#guests,
      rules: this.#rules,
      exit: this.#exit.status(),
      table: this.#table,
    })
  }

  async probe(peer: PeerId, given?: AbortSignal): Promise<VpnProbe> {
    const { tunnels } = this.#running()
    if (this.#table?.peers.has(peer) !== true) throw unknownPeer(peer)
    const signal = this.#untilStopped(given)
    const { clock } = this.#components
    const found = await within({ clock, ms: PROBE_MS, signal }, (limited) => tunnels.probe(peer, limited))
    const { kind, udp } = tunnels.status(peer)
    return { peer, tunnel: kind, ...found, udp }
  }

  subscribe(listener: (event: VpnEvent) => void): () => void {
    return this.#listeners.subscribe(listener)
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop())
  }

  #untilStopped(given: AbortSignal | undefined): AbortSignal {
    const { signal } = this.#stopping
    return given === undefined ? signal : AbortSignal.any([given, signal])
  }

  async #stop(): Promise<void> {
    this.#stopping.abort(vpnError('vpn.stopped', 'the VPN was stopped'))
    for (const end of this.#ends.splice(0).reverse()) await end()
    this.#parts = this.#watch = undefined
    this.#enter('stopped')
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { network, host, log } = this.#components
    const { advertiseRoutes = [], mtu = DEFAULT_MTU } = this.#init
    signal.throwIfAborted()
    checkInit(this.#init, this.#checked)
    this.#rules.check()
    if (!this.#checked.takesIpv6) log.info('interface has IPv4 only', { mtu, leastForIpv6: MIN_IPV6_MTU })
    network.blockRanges(this.#ranges)
    this.#ends.push(() => network.blockRanges([]))
    this.#ends.push(host.watchProblems?.(() => this.#tellProblems()) ?? (() => {}))
    const { tunnels } = (this.#parts = this.#openParts())
    this.#ends.push(this.#rules.begin())
    await tunnels.start()
    signal.throwIfAborted()
    const read = tableInputs(
      {
        options: this.#init,
        derivedRange: this.#checked.derivedRange,
        ranges: this.#ranges,
        own: () => this.#own.all(),
        guests: () => this.#guests.all(),
        exit: () => this.#exit.wish(),
        interfaceName: () => this.interface?.name ?? this.#init.interface,
        reachOf: (peer) => this.#reach.reachOf(peer),
      },
      this.#components,
    )
    const watch = (this.#watch = new TableWatch(
      {
        read,
        followsRoutes: takesRoutes(this.#init),
        advertisesRoutes: advertiseRoutes.length > 0,
        onTable: (table) => this.#apply(table),
      },
      this.#components,
    ))
    this.#ends.push(() => watch.stop())
    await untilAborted(watch.ready, signal)
    if (this.#own.leasing) this.#enter('leasing')
    this.#ends.push(() => this.#own.stop())
    await this.#own.start(signal)
    this.#guests.start()
    this.#ends.push(() => this.#guests.stop())
    this.#ends.push(announceRoutes(this.#init, this.#components))
    this.#isUp = true
    this.#ends.push(this.#exit.begin())
    this.#enter(this.#own.leasing ? 'leasing' : 'running')
    this.#tellProblems()
  }

  #openParts(): Parts {
    const { openEngine, clock, random, log, ledger, network } = this.#components
    const { interface: name, mtu = DEFAULT_MTU, secret, udp } = this.#init
    const { privateKey } = this.#guests
    // last of all: the key is nobody's any more
    this.#ends.push(() => void privateKey.fill(0))
    const supervisor = openOnPort(
      udp,
      this.#guests.port,
      (chosen) =>
        new EngineSupervisor(
          {
            name,
            mtu,
            privateKey,
            ...(chosen !== undefined && { udp: chosen }),
            addresses: this.#own.all(),
            onEvent: (event) => this.#engineEvent(event),
            onLost: (error) => {
              if (error !== undefined) this.#enter('failed')
              this.#tellProblems()
            },
            onReopened: () => {
              this.#parts?.applier.forgetRoutes()
              this.#parts?.tunnels.engineReopened()
              this.#watch?.rebuild()
              this.#tellProblems()
            },
            onInterfaceProblem: () => this.#tellProblems(),
          },
          { openEngine, clock, log },
        ),
    )
    this.#ends.push(() => supervisor.close())
    const tunnels = new Tunnels(
      {
        self: ledger.self,
        privateKey,
        networkKey: secret.key,
        mtu,
        paths: {
          vpnRanges: () => routedRanges(this.#ranges, this.#table?.kernelRoutes),
          interfaceName: () => this.interface?.name ?? name,
          networks: () => this.#components.host.networks(),
        },
      },
      {
        network,
        engine: supervisor.engine,
        onTunnels: () => {
          this.#parts?.applier.setEngineTable()
          this.#exit.follow()
        },
        onUdpPath: (peer) => {
          this.#exit.follow()
          this.#reach.changed(peer)
          const udp = this.#parts?.tunnels.status(peer).udp
          if (udp !== undefined) this.#listeners.emit({ type: 'path', peer, udp })
        },
        clock,
        random,
        log,
      },
    )
    this.#ends.push(() => tunnels.stop())
    const applier = new TableApplier(
      {
        ranges: this.#ranges,
        advertised: receivedRanges(this.#init),
        takesIpv6: this.#checked.takesIpv6,
        guestMtu: guestMtuOf(mtu),
        addresses: () => this.addresses(),
        onAddresses: (addresses) => {
          if (this.#isUp) this.#listeners.emit({ type: 'addresses', addresses })
        },
      },
      { supervisor, tunnels, network, rules: this.#rules, log },
    )
    return { supervisor, tunnels, applier }
  }

  #apply(table: VpnTable): void {
    this.#table = table
    this.#parts?.applier.apply(table)
    this.#exit.learn(table.exit)
    this.#reach.follow(contestedIn(table))
    this.#tellProblems()
  }

  #rulesChanged(): void {
    this.#parts?.applier.setEngineTable()
    this.#tellProblems()
  }

  #addressesChanged(): void {
    this.#watch?.rebuild()
    if (!this.#isUp) return
    if (this.#state !== 'failed') this.#enter(this.#own.leasing ? 'leasing' : 'running')
    this.#tellProblems()
  }

  #engineEvent(event: EngineEvent): void {
    if (event.type === 'networks') return this.#tellProblems()
    if (event.type === 'guestSession') return this.#guests.session(event.guest)
    this.#parts?.tunnels.engineEvent(event)
    if (event.type === 'session' || event.type === 'silent') this.#listeners.emit(event)
  }

  #running(): Parts {
    if (this.#parts === undefined) throw vpnError('vpn.not_running', 'the VPN does not run')
    return this.#parts
  }

  #enter(state: VpnState): void {
    if (state === this.#state) return
    this.#state = state
    this.#listeners.emit({ type: 'state', state })
  }

  #tellProblems(): void {
    this.#listeners.tellProblems(this.problems())
  }
}
