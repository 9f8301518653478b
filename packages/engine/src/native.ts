/** The addon: where it is, and what it offers. `native/node.rs` is the other side of these types. */
import { createRequire } from 'node:module'
import { engineError } from './errors.ts'

export interface NativeAddon {
  readonly NativeEngine: new (init: NativeInit, wake: () => void) => NativeEngine
  markSocket(descriptor: number, mark: number): void
  capSegments(descriptor: number, bytes: number): void
  allowFragments(descriptor: number): void
  trimMemory(): boolean
  reasonNames(): string[]
  eventNames(): string[]
}

export interface NativeInit {
  /** Undefined: a memory device. */
  readonly name?: string
  readonly addresses: readonly string[]
  readonly mtu: number
  readonly privateKey: Uint8Array
  /** The UDP port, 0 for any; undefined when there is no socket. */
  readonly udpPort?: number
  /** The mark of the socket's packets, 32 bits. */
  readonly udpMark?: number
  /** How many queues the interface has; undefined: by the number of cores. A memory device has one. */
  readonly queues?: number
  /** True: the kernel's WireGuard carries. */
  readonly kernel?: boolean
  /** The socket of a program that stands in for the kernel's netlink; for `kernel` alone. */
  readonly netlink?: string
}

interface NativeDatagram {
  readonly address: string
  readonly port: number
  /** The port of the further socket that received it; 0: the engine's own. */
  readonly socket: number
  /** How many bytes came; `bytes` may hold fewer. */
  readonly len: number
  readonly bytes: Uint8Array
}

/** The whole table in few values: thousands of objects would cost more than all the rest. */
export interface NativeTable {
  /**
   * Seven numbers for each peer. Its number. The tunnel: 0 none, 1 WireGuard, 2 legacy. The MTU. The count of its ranges. The path: 0
   * stream, 1 socket, 2 both, 3 socket to where it was heard. The MTU of the path over the socket. The port of the further
   * socket, or 0 for the engine's own.
   */
  readonly peers: Uint32Array
  /** Public and preshared key of each peer with a WireGuard tunnel, in order. */
  readonly keys: Uint8Array
  /** The peers' ranges in order, a space between two. */
  readonly ranges: string
  /** Where the socket sends to, of each peer whose path names it, in order, a space between two. */
  readonly endpoints: string
  readonly local: string
  /** Undefined: the rules stay as they are. */
  readonly rules?: NativeRules
}

/** Rules in few values. */
export interface NativeRules {
  /** False: there are none, and all flows may begin. */
  readonly given: boolean
  /** A space between two. */
  readonly ranges: string
  /** Holds for each range the count of its sets, then these. */
  readonly sets: Uint32Array
  /**
   * Holds for each layer the count of its rules, then for each rule: the set of the source and of the destination (4,294,967,295 for
   * any), the count of its matches, and for each match two numbers. The first is 0 for TCP, 1 for UDP and 2 for ICMP; the
   * second holds the first port in its upper 16 bits and the last port in its lower 16.
   */
  readonly rules: Uint32Array
  readonly silent: boolean
}

export interface NativeRefusal {
  readonly source: string
  readonly destination: string
  /** The number of the IP protocol. */
  readonly protocol: number
  readonly port?: number | null
  readonly count: number
}

/** All sums since the engine was opened. */
export interface NativeStats {
  /**
   * One row for the device (number 0) and one for each peer: its number, packets and bytes in, packets and bytes out, and the count of
   * drop reasons. Then for each reason its index in `reasonNames` and its count.
   */
  readonly rows: Float64Array
  readonly eventsDropped: number
  /** The guests that were heard: each peer by its index, and the address with the port. */
  readonly heard: readonly {
    /** Its index in the table. */
    readonly peer: number
    readonly endpoint: string
  }[]
}

interface NativeProbePair {
  readonly token: Uint8Array
  readonly theirToken: Uint8Array
  readonly key: Uint8Array
  readonly endpoints: string
}

/** The addon's engine. It calls each peer by its index in the table. */
export interface NativeEngine {
  readonly publicKey: Uint8Array
  interface(): { name: string; mtu: number; offload: boolean; offloadUdp: boolean }
  setTable(table: NativeTable): void
  takeRefusals(): NativeRefusal[]
  /** The flows that each rule allowed, layer by layer. */
  ruleHits(): Float64Array
  flowCount(): number
  setAddresses(addresses: readonly string[]): void
  setRoutes(routes: readonly string[]): void
  restore(addresses: readonly string[], mtu: number): { restored: string[]; failed: string[] }
  take(peerIndex: number): Uint8Array | null
  inject(peerIndex: number, bytes: Uint8Array): boolean
  injectPackets(peerIndex: number, packets: Uint8Array): void
  readonly udpPort: number | null
  /** `socket` is the port of a further socket, or 0. */
  sendDatagram(endpoint: string, bytes: Uint8Array, socket: number): boolean
  openSocket(): number | null
  closeSocket(port: number): void
  expectProbes(pair: NativeProbePair): void
  forgetProbes(token: Uint8Array): void
  takeDatagrams(): NativeDatagram[]
  active(): number[]
  restart(peerIndex: number): void
  retryHandshake(peerIndex: number): void
  /** Two numbers for each event: the index of its name in `eventNames`, and the peer's. */
  poll(): number[]
  failure(): string | null
  stats(): NativeStats
  close(): void
  /** The kernel's end of a memory device. */
  memorySend(packet: Uint8Array): boolean
  memoryReceive(): Uint8Array | null
}

/** Platforms for which there are packages `@mesh/engine-PLATFORM-LIBC`. */
const PLATFORMS: readonly string[] = ['linux-x64', 'linux-arm64']

let loaded: { readonly path: string; readonly addon: NativeAddon } | undefined

/**
 * @param path the addon's file, where it is not in its platform package (one executable)
 * @throws MeshError `engine.no_addon`
 */
export function loadAddon(path = addonPath()): NativeAddon {
  if (loaded?.path === path) return loaded.addon
  const module = { exports: {} }
  try {
    process.dlopen(module, path)
  } catch (error) {
    throw engineError('engine.no_addon', `this machine cannot load the engine's addon ${path}`, error)
  }
  loaded = { path, addon: module.exports as NativeAddon }
  return loaded.addon
}

/** Gives the addon's file for this platform and its C library. */
function addonPath(): string {
  const platform = `${process.platform}-${process.arch}`
  if (!PLATFORMS.includes(platform))
    throw engineError('engine.no_addon', `there is no addon of the engine for ${platform} yet`)
  libc ??= libcOfProcess()
  try {
    return createRequire(import.meta.url).resolve(`@mesh/engine-${platform}-${libc}`)
  } catch (error) {
    throw engineError(
      'engine.no_addon',
      `the engine's addon for ${platform} is not installed or not built`,
      error,
    )
  }
}

let libc: 'gnu' | 'musl' | undefined

/** The parts of the process's report that are read. `excludeNetwork`: else the names of all peers are looked up. */
interface Report {
  excludeNetwork: boolean
  getReport(): { readonly header: { readonly glibcVersionRuntime?: string } }
}

/** The C library of this process; only glibc tells its version. */
function libcOfProcess(): 'gnu' | 'musl' {
  const report = process.report as unknown as Report
  const { excludeNetwork } = report
  report.excludeNetwork = true
  const { header } = report.getReport()
  report.excludeNetwork = excludeNetwork
  return header.glibcVersionRuntime === undefined ? 'musl' : 'gnu'
}
