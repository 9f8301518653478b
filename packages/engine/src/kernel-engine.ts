/**
 * The kernel's own WireGuard in the engine's place: the same table, events and streams. The kernel has the sessions and carries
 * the packets; the addon tells it of peers by netlink. Differences:
 *
 * - Packets go one way at a time, so the stream does not back a path in doubt.
 * - Packets for a peer without a tunnel do not wait. The node looks for the peer (`pathNeeded`).
 * - Paths that take less than the tunnel's MTU are not used.
 * - There are no tunnels to legacy members and no guests.
 * - There is no filter for rules: while the table has rules, there are no peers.
 * - Bytes are counted sealed, and packets not at all.
 */
import type { Cidr } from '@mesh/core'
import { type Engine, type EngineComponents, type EngineInit, nativeInit, startEngine } from './engine.ts'
import type { EngineTable } from './table.ts'

export interface KernelEngineInit extends Omit<EngineInit, 'queues'> {
  /** The socket of a program that stands in for the kernel's netlink. */
  readonly netlink?: string
}

/**
 * Keeps what members send to `local`. The kernel's WireGuard checks only a packet's source. Without this rule members would reach
 * every address of this machine, and what it forwards to.
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
  const { name, netlink } = init
  const native = { ...nativeInit(init), kernel: true, ...(netlink !== undefined && { netlink }) }
  // before there is an interface: at no moment is one without it
  filter.set(name, [])
  let told = ''
  let engine: Engine
  try {
    engine = startEngine(native, init, log === undefined ? {} : { log }).engine
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
