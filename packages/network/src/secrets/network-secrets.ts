/** The secrets that rotate with time, made from what members share (docs/WIRE.md 2). Pure: the time comes in. */
import { hmac } from '@noble/hashes/hmac.js'
import { md5 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { base64pad } from 'multiformats/bases/base64'
import type { NetworkConfig, OtpConfig } from '../config/network-config.ts'

/** The secrets that hold during one window of `otp.crypto`. */
export interface WindowSecrets {
  /** The window's number: unix seconds divided by the interval. */
  readonly window: number
  /** Unix ms at which the window begins. */
  readonly startMs: number
  /** The name of the sealed ledger topic. */
  readonly topic: string
  /** The name of the topic on which nodes that are not trusted yet may speak. */
  readonly publicTopic: string
  /** The AES-256 key: the 32 ASCII characters of a hex text, which the wire fixes. */
  readonly sealKey: Uint8Array
}

/** The network's names in the DHT for the windows before, at and after a time; all equal when they are static. */
export interface Rendezvous {
  readonly previous: string
  readonly current: string
  readonly next: string
  /** Unix ms at which `next` becomes `current`; undefined when it never does. */
  readonly changesAtMs: number | undefined
}

export interface NetworkSecrets {
  /** How long a window of topic and seal key lasts, in ms. */
  readonly intervalMs: number
  /** Gives the number of the window at a time in unix ms. */
  windowAt(nowMs: number): number
  /** Gives the secrets of a window by its number; those of the last few are kept ready. */
  ofWindow(window: number): WindowSecrets
  /** Gives undefined when the network names no rendezvous at all. */
  rendezvousAt(nowMs: number): Rendezvous | undefined
}

/** Windows whose secrets are kept: the current one, its neighbours, and a few for clocks that jump. */
const KEPT_WINDOWS = 8

/** Derives the rotating secrets of a network, each window's once. */
export function createNetworkSecrets(config: NetworkConfig): NetworkSecrets {
  const intervalMs = Number(config.crypto.intervalS) * 1000
  const kept = new Map<number, WindowSecrets>()

  const build = (window: number): WindowSecrets => {
    const { length } = config.crypto
    const room = totp(config.room, window, length)
    return {
      window,
      startMs: window * intervalMs,
      topic: md5Hex(room),
      publicTopic: md5Hex(`${room}public`),
      sealKey: new TextEncoder().encode(md5Hex(totp(config.crypto.key, window, length))),
    }
  }

  return {
    intervalMs,
    windowAt: (nowMs) => Math.floor(nowMs / intervalMs),
    ofWindow(window) {
      const known = kept.get(window)
      if (known !== undefined) return known
      const built = build(window)
      if (kept.size >= KEPT_WINDOWS) kept.delete(Math.min(...kept.keys()))
      kept.set(window, built)
      return built
    },
    rendezvousAt: (nowMs) => buildRendezvous(config, nowMs),
  }
}

function buildRendezvous({ dht, rendezvous }: NetworkConfig, nowMs: number): Rendezvous | undefined {
  if (dht === undefined) {
    if (rendezvous === '') return undefined
    return { previous: rendezvous, current: rendezvous, next: rendezvous, changesAtMs: undefined }
  }
  const intervalMs = Number(dht.intervalS) * 1000
  const window = Math.floor(nowMs / intervalMs)
  const of = (at: number, { key, length }: OtpConfig) => md5Hex(totp(key, at, length))
  return {
    previous: of(window - 1, dht),
    current: of(window, dht),
    next: of(window + 1, dht),
    changesAtMs: (window + 1) * intervalMs,
  }
}

/** Derives a rotating text as the wire fixes it: the first characters of base64(HMAC-SHA-256(key as UTF-8, window as 64-bit big-endian)), not truncated. */
function totp(key: string, window: number, length: number): string {
  const counter = new Uint8Array(8)
  new DataView(counter.buffer).setBigUint64(0, BigInt(window))
  const mac = hmac(sha256, new TextEncoder().encode(key), counter)
  return base64pad.baseEncode(mac).slice(0, length)
}

function md5Hex(text: string): string {
  return bytesToHex(md5(new TextEncoder().encode(text)))
}
