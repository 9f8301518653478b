/** The addon: where it is, and what it offers. `native/node.rs` is the other side of these types. */
import { createRequire } from 'node:module'
import { engineError } from './errors.ts'

export interface NativeAddon {
  readonly NativeEngine: new (init: NativeInit, wake: () => void) => NativeEngine
  reasonNames(): string[]
}

export interface NativeInit {
  /** Undefined: a memory device. */
  readonly name?: string
  readonly addresses: readonly string[]
  readonly mtu: number
  readonly privateKey: Uint8Array
}

export interface NativePeer {
  readonly id: number
  readonly plain: boolean
  /** With it the way is a stream; without, and not plain, it is unknown. */
  readonly publicKey?: Uint8Array
  readonly presharedKey?: Uint8Array
  readonly allowed: readonly string[]
  readonly mtu: number
}

export interface NativeEvent {
  readonly kind: 'carry' | 'room' | 'wanted' | 'session' | 'silent' | 'broken' | 'failed'
  readonly peer: number
  readonly message?: string
}

export interface NativeCounters {
  readonly packetsIn: number
  readonly bytesIn: number
  readonly packetsOut: number
  readonly bytesOut: number
  readonly drops: Readonly<Record<string, number>>
}

export interface NativeEngine {
  readonly publicKey: Uint8Array
  interface(): { name: string; mtu: number; offload: boolean; offloadUdp: boolean }
  setTable(peers: readonly NativePeer[], local: readonly string[]): void
  setAddresses(addresses: readonly string[]): void
  setRoutes(routes: readonly string[]): void
  setMtu(mtu: number): void
  take(peer: number): Uint8Array | null
  inject(peer: number, bytes: Uint8Array): boolean
  injectPlain(peer: number, packets: Uint8Array): void
  restart(peer: number): void
  hurry(peer: number): void
  poll(): NativeEvent[]
  stats(): {
    device: NativeCounters
    peers: { id: number; counters: NativeCounters }[]
    eventsDropped: number
  }
  memorySend(packet: Uint8Array): boolean
  memoryReceive(): Uint8Array | null
  close(): void
}

/** Platforms for which there is a package `@mesh/engine-PLATFORM`. */
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

function addonPath(): string {
  const platform = `${process.platform}-${process.arch}`
  if (!PLATFORMS.includes(platform))
    throw engineError('engine.no_addon', `there is no addon of the engine for ${platform} yet`)
  try {
    return createRequire(import.meta.url).resolve(`@mesh/engine-${platform}-gnu`)
  } catch (error) {
    throw engineError(
      'engine.no_addon',
      `the engine's addon for ${platform} is not installed or not built`,
      error,
    )
  }
}
