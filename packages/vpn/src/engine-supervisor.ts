/**
 * Keeps an engine running. Its users hold the supervisor. When the interface was taken away, the supervisor opens a new engine
 * and repeats what the earlier one was told. The key stays the same for peers.
 */
import { type AddressInRange, type Cidr, toError } from '@mesh/core'
import type {
  DropReason,
  Engine,
  EngineCounters,
  EngineEvent,
  EngineInit,
  EngineInterface,
  EngineStats,
  EngineTable,
  Refusal,
  Restored,
} from '@mesh/engine'
import { InterfaceKeeper } from './interface-keeper.ts'
import { REOPEN_AFTER_MS, REOPEN_AGAIN_MS } from './limits.ts'
import type { TunnelEngine } from './ports.ts'
import type { VpnProblem, VpnComponents } from './vpn.ts'
import { interfaceLost } from './vpn-problems.ts'

interface EngineSupervisorInit extends Pick<EngineInit, 'name' | 'addresses' | 'mtu' | 'privateKey' | 'udp'> {
  /** Called with all events but `failed` and `interface`. */
  readonly onEvent: (event: EngineEvent) => void
  /** Called when the interface is lost. It is made again in a second, except where there is an error. */
  readonly onLost: (error: Error | undefined) => void
  readonly onReopened: () => void
  /** Called when `interfaceProblem` has changed. */
  readonly onInterfaceProblem: () => void
}

interface EngineSupervisorComponents extends Pick<VpnComponents, 'clock' | 'log'> {
  readonly openEngine: (init: EngineInit) => Engine
}

const NO_COUNTERS: EngineCounters = { packetsIn: 0, bytesIn: 0, packetsOut: 0, bytesOut: 0, drops: {} }

const NOTHING: Restored = { restored: [], failed: [] }

const NO_STATS: EngineStats = {
  device: NO_COUNTERS,
  peers: new Map(),
  guests: new Map(),
  eventsDropped: 0,
}

export class EngineSupervisor {
  /** The engine in use, whichever it is. While there is none, what it is given is dropped. */
  readonly engine: TunnelEngine
  readonly #init: EngineSupervisorInit
  readonly #components: EngineSupervisorComponents
  readonly #keeper: InterfaceKeeper
  #engine: Engine | undefined
  #addresses: readonly AddressInRange[]
  #table: EngineTable = { local: [], peers: [] }
  #left = NO_COUNTERS
  #reopenedAt = Number.NEGATIVE_INFINITY
  #cancelReopen = () => {}
  #lostProblem: VpnProblem | undefined
  #closed = false

  constructor(init: EngineSupervisorInit, components: EngineSupervisorComponents) {
    this.#init = init
    this.#components = components
    this.#addresses = init.addresses
    const { name, mtu } = init
    const restore = () => this.#engine?.restore({ addresses: this.#addresses, mtu }) ?? NOTHING
    this.#keeper = new InterfaceKeeper({ name, restore, onProblem: init.onInterfaceProblem }, components)
    const first = this.#open()
    this.#engine = first
    const current = () => this.#engine
    this.engine = {
      publicKey: first.publicKey,
      get udpPort() {
        return current()?.udpPort
      },
      sendDatagram: (to, bytes, socket) => this.#engine?.sendDatagram(to, bytes, socket) ?? false,
      openSocket: () => this.#engine?.openSocket(),
      closeSocket: (port) => this.#engine?.closeSocket(port),
      expectProbes: (pair) => this.#engine?.expectProbes(pair),
      forgetProbes: (token) => this.#engine?.forgetProbes(token),
      takeDatagrams: () => this.#engine?.takeDatagrams() ?? [],
      activePeers: () => this.#engine?.activePeers() ?? [],
      take: (peer) => this.#engine?.take(peer),
      inject: (peer, bytes) => this.#engine?.inject(peer, bytes) ?? true,
      injectPackets: (peer, packets) => this.#engine?.injectPackets(peer, packets),
      restart: (peer) => this.#engine?.restart(peer),
      retryHandshake: (peer) => this.#engine?.retryHandshake(peer),
    }
  }

  get interface(): EngineInterface | undefined {
    return this.#engine?.interface
  }

  /** The interface is lost, or not as it has to be. */
  get interfaceProblem(): VpnProblem | undefined {
    return this.#lostProblem ?? this.#keeper.problem
  }

  setTable(table: EngineTable): void {
    const stays = new Set(table.peers.map(({ peer }) => peer))
    const gone = this.#table.peers.filter(({ peer }) => !stays.has(peer))
    if (gone.length > 0) {
      const { peers } = this.#counted()
      for (const { peer } of gone) this.#left = add(this.#left, peers.get(peer) ?? NO_COUNTERS)
    }
    this.#table = table
    this.#engine?.setTable(table)
  }

  setAddresses(addresses: readonly AddressInRange[]): void {
    this.#addresses = addresses
    this.#engine?.setAddresses(addresses)
  }

  /** Sets the routes, which is needed again after `onReopened`. @returns why the kernel refused them */
  setRoutes(routes: readonly Cidr[]): Error | undefined {
    try {
      this.#engine?.setRoutes(routes)
    } catch (error) {
      this.#components.log.warn('routes not set', { error })
      return toError(error)
    }
    return undefined
  }

  /** Sums that never fall: those of peers that left, and of engines that were lost, are added to the device's. */
  stats(): EngineStats {
    const stats = this.#counted()
    return { ...stats, device: add(stats.device, this.#left) }
  }

  /** Gives what the rules refused since the last call. */
  takeRefusals(): readonly Refusal[] {
    return this.#engine?.takeRefusals() ?? []
  }

  /** How many flows each rule allowed. */
  ruleHits(): readonly (readonly number[])[] {
    return this.#engine?.ruleHits() ?? []
  }

  #counted(): EngineStats {
    return this.#engine?.stats() ?? NO_STATS
  }

  close(): void {
    this.#closed = true
    this.#cancelReopen()
    this.#keeper.stop()
    this.#engine?.close()
    this.#engine = undefined
  }

  #open(): Engine {
    const { name, mtu, privateKey, udp } = this.#init
    return this.#components.openEngine({
      name,
      mtu,
      privateKey,
      ...(udp !== undefined && { udp }),
      addresses: this.#addresses,
      onEvent: (event) => this.#hear(event),
    })
  }

  #hear(event: EngineEvent): void {
    if (event.type === 'failed') this.#lost(event.message)
    else if (event.type === 'interface') this.#keeper.changed()
    else this.#init.onEvent(event)
  }

  #lost(message: string): void {
    if (this.#closed || this.#engine === undefined) return
    const { clock, log } = this.#components
    log.warn('interface lost', { interface: this.#init.name, message })
    const { device, peers } = this.#counted()
    this.#left = [device, ...peers.values()].reduce(add, this.#left)
    this.#engine.close()
    this.#engine = undefined
    const isAgain = clock.monotonic() < this.#reopenedAt + REOPEN_AGAIN_MS
    this.#tellLost(isAgain ? new Error(message) : undefined)
    if (!isAgain) this.#cancelReopen = clock.after(REOPEN_AFTER_MS, () => this.#reopen())
  }

  #reopen(): void {
    this.#reopenedAt = this.#components.clock.monotonic()
    try {
      this.#engine = this.#open()
      this.#engine.setTable(this.#table)
    } catch (error) {
      this.#engine?.close()
      this.#engine = undefined
      return this.#tellLost(toError(error))
    }
    this.#lostProblem = undefined
    this.#init.onReopened()
  }

  #tellLost(error: Error | undefined): void {
    this.#lostProblem = interfaceLost(this.#init.name, error, this.#components.clock.now())
    this.#init.onLost(error)
  }
}

function add(one: EngineCounters, other: EngineCounters): EngineCounters {
  const drops: Partial<Record<DropReason, number>> = { ...one.drops }
  for (const [reason, count] of Object.entries(other.drops) as [DropReason, number][]) {
    drops[reason] = (drops[reason] ?? 0) + count
  }
  return {
    packetsIn: one.packetsIn + other.packetsIn,
    bytesIn: one.bytesIn + other.bytesIn,
    packetsOut: one.packetsOut + other.packetsOut,
    bytesOut: one.bytesOut + other.bytesOut,
    drops,
  }
}
