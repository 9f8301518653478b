/** Nodes with a VPN in one process: all real but the network between them, the kernel, and what replicates ledgers. */
import { expect } from 'vitest'
import {
  type AddressInRange,
  type Clock,
  formatAddressInRange,
  heartbeatValue,
  type IpAddress,
  parseIp,
  type PeerId,
  silentLogger,
  systemClock,
  tryParseAddressInRange,
} from '@mesh/core'
import type { EngineEvent, EngineInit } from '@mesh/engine'
import { type MemoryEngine, openMemoryEngine } from '@mesh/engine/testing'
import { createLedger, createSigner, type Ledger, type OwnershipMode } from '@mesh/ledger'
import { createSeededRandom, eventually } from '@mesh/testkit'
import { startAnnouncing } from '@mesh/replication/testing'
import ipaddr from 'ipaddr.js'
import {
  createVpn,
  type HostNetwork,
  type HostRoute,
  type Vpn,
  type VpnEvent,
  type VpnInit,
} from '../src/index.ts'
import { type MemoryNetwork, createMemoryNetwork, packet as smallPacket } from '@mesh/vpn/testing'

export interface VpnNode {
  readonly peer: PeerId
  readonly ledger: Ledger
  readonly vpn: Vpn
  readonly events: readonly VpnEvent[]
  /** What libp2p is kept out of now. */
  readonly blocked: readonly string[]
  /** Engines that were opened, the last one in use. */
  readonly engines: readonly MemoryEngine[]
  /** What the kernel was given by the last engine. */
  readonly kernel: { readonly addresses: readonly string[]; readonly routes: readonly string[] }
  readonly v4: IpAddress
  readonly v6: IpAddress
  send(packet: Uint8Array): void
  received(): Uint8Array[]
  /** As if the engine told it. */
  engineSays(event: EngineEvent): void
}

interface VpnNodeInit extends Partial<Omit<VpnInit, 'addresses'>> {
  readonly addresses?: readonly string[]
  readonly networks?: readonly HostNetwork[]
  readonly routes?: () => readonly HostRoute[]
  readonly remotes?: readonly string[]
  readonly forwards?: boolean
  readonly hasIpv6?: boolean
}

export interface VpnLab {
  readonly network: MemoryNetwork
  /** Not started. Node n has the key of n. */
  node(number: number, init?: VpnNodeInit): Promise<VpnNode>
  /** Nodes with 10.1.0.n, started. */
  running(...numbers: number[]): Promise<VpnNode[]>
  stop(): Promise<void>
}

const clock: Clock = systemClock

export function createVpnLab({ mode = 'enforce' }: { readonly mode?: OwnershipMode } = {}): VpnLab {
  const lab = new Lab(mode)
  // tests take these apart
  return {
    network: lab.network,
    node: (number, init) => lab.node(number, init),
    running: (...numbers) => lab.running(...numbers),
    stop: () => lab.stop(),
  }
}

class Lab {
  readonly network = createMemoryNetwork()
  readonly #mode: OwnershipMode
  readonly #ledgers: Ledger[] = []
  readonly #nodes: VpnNode[] = []

  constructor(mode: OwnershipMode) {
    this.#mode = mode
  }

  async node(number: number, init: VpnNodeInit = {}): Promise<VpnNode> {
    const signer = createSigner(new Uint8Array(32).fill(number))
    const ledger = createLedger({ mode: this.#mode }, { signer, clock })
    this.#replicate(ledger)
    await ledger.put('healthcheck', ledger.self, heartbeatValue(clock.now())).settled
    const node = new LabNode(number, init, { ledger, network: this.network })
    this.#nodes.push(node)
    return node
  }

  async running(...numbers: number[]): Promise<VpnNode[]> {
    const started: VpnNode[] = []
    for (const number of numbers) {
      const made = await this.node(number, { addresses: [`10.1.0.${number}/24`] })
      await made.vpn.start()
      const [first] = this.#ledgers
      await eventually(() => {
        const held = made.vpn.addresses().map(({ address }) => first?.snapshot().getLive('machines', address))
        if (held.some((entry) => entry?.owner !== made.peer)) throw new Error('not announced')
      })
      started.push(made)
    }
    return started
  }

  async stop(): Promise<void> {
    for (const { vpn, ledger } of this.#nodes) {
      await vpn.stop()
      await ledger.stop()
    }
  }

  /** Every ledger takes what any of them writes. */
  #replicate(ledger: Ledger): void {
    for (const other of this.#ledgers) ledger.merge(other.snapshot().entries(), undefined)
    this.#ledgers.push(ledger)
    ledger.subscribe((event) => {
      if (event.type !== 'committed') return
      const own = event.changes.filter(({ origin }) => origin === 'local')
      for (const other of this.#ledgers) if (other !== ledger) other.merge(own, ledger.self)
    })
  }
}

class LabNode implements VpnNode {
  readonly peer: PeerId
  readonly ledger: Ledger
  readonly vpn: Vpn
  readonly events: VpnEvent[] = []
  readonly engines: MemoryEngine[] = []
  readonly kernel: { addresses: readonly string[]; routes: readonly string[] } = { addresses: [], routes: [] }
  blocked: readonly string[] = []
  readonly #inits: EngineInit[] = []

  constructor(number: number, given: VpnNodeInit, surroundings: { ledger: Ledger; network: MemoryNetwork }) {
    const { addresses = [], networks = [], routes = () => [], remotes = [], ...others } = given
    const { forwards = true, hasIpv6 = true, ...init } = others
    const { ledger, network } = surroundings
    const random = createSeededRandom(number)
    const initialSync = async () => {}
    this.peer = ledger.self
    this.ledger = ledger
    this.vpn = createVpn(
      {
        interface: 'mesh0',
        addresses: addresses.map(addressInRange),
        secret: { key: 'network key', room: 'room' },
        machine: { Hostname: `host-${number}`, OS: 'linux', Arch: 'amd64', Version: '1' },
        ...init,
      },
      {
        ledger,
        network: {
          ...network.join(ledger.self).network,
          blockRanges: (ranges) => void (this.blocked = ranges),
        },
        host: {
          networks: () => networks,
          routes: () => routes(),
          remoteAddresses: () => remotes.map(parseIp),
          forwards: () => forwards,
          hasIpv6: () => hasIpv6,
        },
        openLeaseFile: () => expect.unreachable('no file is named'),
        openEngine: (engineInit) => this.#openEngine(engineInit),
        announce: (bucket, key, valueText) =>
          startAnnouncing(
            { bucket, key, valueText },
            { ledger, initialSync: { wait: initialSync, ready: true }, clock, random, logger: silentLogger },
          ),
        initialSync,
        clock,
        random,
        log: silentLogger,
      },
    )
    this.vpn.subscribe((event) => this.events.push(event))
  }

  get v4(): IpAddress {
    return this.#addressOf(false)
  }

  get v6(): IpAddress {
    return this.#addressOf(true)
  }

  send(packet: Uint8Array): void {
    this.#device().send(packet)
  }

  received(): Uint8Array[] {
    return this.#device().receive()
  }

  engineSays(event: EngineEvent): void {
    this.#inits.at(-1)?.onEvent(event)
  }

  #openEngine(init: EngineInit): MemoryEngine {
    const engine = openMemoryEngine(init)
    this.#inits.push(init)
    this.engines.push(engine)
    const { kernel } = this
    const take = (ranges: readonly AddressInRange[]) => {
      kernel.addresses = ranges.map(formatAddressInRange)
    }
    take(init.addresses)
    return Object.assign(engine, {
      setAddresses: take,
      setRoutes(routes: readonly string[]) {
        kernel.routes = routes
      },
    })
  }

  #addressOf(isV6: boolean): IpAddress {
    const found = this.vpn.addresses().find(({ address }) => address.includes(':') === isV6)
    if (found === undefined) throw new Error('no such address')
    return found.address
  }

  #device(): MemoryEngine['device'] {
    const engine = this.engines.at(-1)
    if (engine === undefined) throw new Error('no engine')
    return engine.device
  }
}

/** As `packet` of the tunnels' tests, for any addresses. */
export function packet(source: string, destination: string, payload: number, mark: number): Uint8Array {
  const isV6 = source.includes(':')
  const bytes = smallPacket(isV6 ? 'fd00::1' : source, isV6 ? 'fd00::1' : destination, payload, mark)
  if (isV6) {
    bytes.set(ipaddr.parse(source).toByteArray(), 8)
    bytes.set(ipaddr.parse(destination).toByteArray(), 24)
  }
  return bytes
}

export function addressInRange(text: string): AddressInRange {
  const parsed = tryParseAddressInRange(text)
  if (parsed === undefined) throw new Error(`${text} is no address with its range`)
  return parsed
}
