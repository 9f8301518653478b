/** Nodes with a VPN in one process: all real but the network between them, the kernel, and what replicates ledgers. */
import { expect } from 'vitest'
import {
  type AddressInRange,
  type Clock,
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
import { createVpn, type HostNetwork, type Vpn, type VpnEvent, type VpnInit } from '../src/index.ts'
import { createMemoryNetwork, type MemoryNetwork } from '../src/testing/memory-network.ts'
import { packet as smallPacket } from '../src/testing/packet.ts'

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

export interface VpnNodeInit extends Partial<Omit<VpnInit, 'addresses'>> {
  readonly addresses?: readonly string[]
  readonly networks?: readonly HostNetwork[]
  readonly remotes?: readonly string[]
  readonly forwards?: boolean
}

export interface VpnLab {
  readonly network: MemoryNetwork
  /** Not started. Node n has the key of n. */
  node(number: number, init?: VpnNodeInit): Promise<VpnNode>
  /** Nodes with 10.1.0.n, started. */
  running(...numbers: number[]): Promise<VpnNode[]>
  stop(): Promise<void>
}

export function createVpnLab({ mode = 'enforce' }: { readonly mode?: OwnershipMode } = {}): VpnLab {
  const network = createMemoryNetwork()
  const ledgers: Ledger[] = []
  const nodes: VpnNode[] = []
  const clock: Clock = systemClock

  /** Every ledger takes what any of them writes. */
  function replicate(ledger: Ledger): void {
    for (const other of ledgers) ledger.merge(other.snapshot().entries(), undefined)
    ledgers.push(ledger)
    ledger.subscribe((event) => {
      if (event.type !== 'committed') return
      const own = event.changes.filter(({ origin }) => origin === 'local')
      for (const other of ledgers) if (other !== ledger) other.merge(own, ledger.self)
    })
  }

  async function node(number: number, given: VpnNodeInit = {}): Promise<VpnNode> {
    const { addresses = [], networks = [], remotes = [], forwards = true, ...init } = given
    const signer = createSigner(new Uint8Array(32).fill(number))
    const ledger = createLedger({ mode }, { signer, clock })
    replicate(ledger)
    await ledger.put('healthcheck', ledger.self, heartbeatValue(clock.now())).settled
    const engines: MemoryEngine[] = []
    const inits: EngineInit[] = []
    const kernel: { addresses: readonly string[]; routes: readonly string[] } = { addresses: [], routes: [] }
    const state = { blocked: [] as readonly string[] }
    const random = createSeededRandom(number)
    const arrived = async () => {}
    const vpn = createVpn(
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
          blockRanges(ranges) {
            state.blocked = ranges
          },
        },
        host: {
          networks: () => networks,
          remoteAddresses: () => remotes.map(parseIp),
          forwards: () => forwards,
        },
        openLeaseFile: () => expect.unreachable('no file is named'),
        openEngine(engineInit) {
          const engine = openMemoryEngine(engineInit)
          inits.push(engineInit)
          engines.push(engine)
          const take = (ranges: readonly AddressInRange[]) => {
            kernel.addresses = ranges.map(({ address, prefixLength }) => `${address}/${prefixLength}`)
          }
          take(engineInit.addresses)
          return Object.assign(engine, {
            setAddresses: take,
            setRoutes(routes: readonly string[]) {
              kernel.routes = routes
            },
          })
        },
        announce: (bucket, key, valueText) =>
          startAnnouncing(
            { bucket, key, valueText },
            { ledger, initialSync: { wait: arrived, ready: true }, clock, random, logger: silentLogger },
          ),
        arrived,
        clock,
        random,
        log: silentLogger,
      },
    )
    const events: VpnEvent[] = []
    vpn.subscribe((event) => events.push(event))
    const addressOf = (isV6: boolean) => {
      const found = vpn.addresses().find(({ address }) => address.includes(':') === isV6)
      if (found === undefined) throw new Error('no such address')
      return found.address
    }
    const device = () => {
      const engine = engines.at(-1)
      if (engine === undefined) throw new Error('no engine')
      return engine.device
    }
    const made: VpnNode = {
      peer: ledger.self,
      ledger,
      vpn,
      events,
      engines,
      kernel,
      get blocked() {
        return state.blocked
      },
      get v4() {
        return addressOf(false)
      },
      get v6() {
        return addressOf(true)
      },
      send: (packet) => void device().send(packet),
      received: () => device().receive(),
      engineSays: (event) => inits.at(-1)?.onEvent(event),
    }
    nodes.push(made)
    return made
  }

  return {
    network,
    node,
    async running(...numbers) {
      const started: VpnNode[] = []
      for (const number of numbers) {
        const made = await node(number, { addresses: [`10.1.0.${number}/24`] })
        await made.vpn.start()
        await eventually(() => {
          const held = made.vpn
            .addresses()
            .map(({ address }) => ledgers[0]?.snapshot().getLive('machines', address))
          if (held.some((entry) => entry?.owner !== made.peer)) throw new Error('not announced')
        })
        started.push(made)
      }
      return started
    },
    async stop() {
      for (const { vpn, ledger } of nodes) {
        await vpn.stop()
        await ledger.stop()
      }
    },
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
