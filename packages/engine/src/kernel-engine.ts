/**
 * The kernel's own WireGuard in the engine's place: the same table, events and streams. The kernel has the sessions and
 * carries the packets; the addon tells it of peers by netlink.
 *
 * What is different: packets go one way at a time, so that a path in doubt is not backed by the stream; those for a peer
 * without a tunnel do not wait, and each such peer is looked for (`pathNeeded`) instead; paths that take less than the
 * tunnel's MTU are not used; there are no tunnels to legacy members and no guests; bytes are counted sealed, and packets
 * not at all.
 */
import { type Cidr, formatAddressInRange } from '@mesh/core'
import { type Engine, type EngineComponents, type EngineInit, startKernel } from './engine.ts'
import { nativeUdp } from './native-init.ts'
import type { EngineTable } from './table.ts'

export interface KernelEngineInit extends Omit<EngineInit, 'queues'> {
  /** The socket of a program that stands in for the kernel's netlink. */
  readonly netlink?: string
}

/**
 * Keeps what members send to `local`: the kernel's WireGuard checks a packet's source alone, so that without this members
 * would reach all addresses of this machine, and what it forwards to.
 */
export interface LocalFilter {
  /** Lets nothing pass from the interface but what is for these networks. Must throw when it is not so. */
  set(interfaceName: string, local: readonly Cidr[]): void
  clear(): void
}

export interface KernelEngineComponents extends EngineComponents {
  readonly filter: LocalFilter
}

/**
 * Makes a WireGuard interface and opens the engine's face to it.
 *
 * @throws MeshError with an `EngineErrorCode`, `engine.no_kernel_wireguard` where the kernel has none; what the filter
 *   throws
 */
export function openKernelEngine(init: KernelEngineInit, { filter, log }: KernelEngineComponents): Engine {
  const { name, mtu, privateKey, udp, netlink } = init
  const addresses = init.addresses.map(formatAddressInRange)
  const native = {
    name,
    mtu,
    privateKey,
    addresses,
    ...nativeUdp(udp),
    ...(netlink !== undefined && { netlink }),
  }
  // before there is an interface: at no moment is one without it
  filter.set(name, [])
  let told = ''
  let engine: Engine
  try {
    engine = startKernel(native, init, log === undefined ? {} : { log })
  } catch (error) {
    filter.clear()
    throw error
  }
  const [setTable, close] = [engine.setTable.bind(engine), engine.close.bind(engine)]
  return Object.assign(engine, {
    setTable(table: EngineTable) {
      const local = table.local.join()
      if (local !== told) {
        filter.set(name, table.local)
        told = local
      }
      setTable(table)
    },
    close() {
      close()
      filter.clear()
    },
  })
}
