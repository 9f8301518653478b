/** The secrets that rotate with time, made from what members share (wire document, section 2). Pure: time comes in. */
import { hmac } from '@noble/hashes/hmac.js'
import { md5 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { base64pad } from 'multiformats/bases/base64'
import type { NetworkConfig, OtpConfig } from '../network-config.ts'

/** What one window of `otp.crypto` gives. */
export interface WindowSecrets {
  /** Number of the window: unix seconds divided by the interval. */
  readonly window: number
  /** Unix ms at which the window begins. */
  readonly startMs: number
  /** Name of the sealed ledger topic. */
  readonly topic: string
  /** Name of the topic that not yet trusted nodes may speak on. */
  readonly publicTopic: string
  /** AES-256 key: wire: the 32 ASCII characters of a hex text. */
  readonly sealKey: Uint8Array
}

/** Names in the DHT, of the windows before, at and after a time; all equal when the rendezvous is static. */
export interface Rendezvous {
  readonly previous: string
  readonly current: string
  readonly next: string
  /** Unix ms at which `next` becomes `current`; undefined when it never does. */
  readonly changesAtMs: number | undefined
}

export interface NetworkSecrets {
  /** Milliseconds that a window of topic and seal key lasts. */
  readonly intervalMs: number
  windowAt(nowMs: number): number
  /** Of a window by its number; the last few are kept ready. */
  ofWindow(window: number): WindowSecrets
  /** Undefined when the network names no rendezvous at all. */
  rendezvousAt(nowMs: number): Rendezvous | undefined
}

const KEPT_WINDOWS = 8

export function createNetworkSecrets(config: NetworkConfig): NetworkSecrets {
  const intervalMs = config.crypto.intervalS * 1000
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
  const window = Math.floor(nowMs / 1000 / dht.intervalS)
  const of = (at: number, { key, length }: OtpConfig) => md5Hex(totp(key, at, length))
  return {
    previous: of(window - 1, dht),
    current: of(window, dht),
    next: of(window + 1, dht),
    changesAtMs: (window + 1) * dht.intervalS * 1000,
  }
}

/** Wire: the first characters of base64(HMAC-SHA-256(key as UTF-8, window as 64-bit big-endian)), not truncated. */
function totp(key: string, window: number, length: number): string {
  const counter = new Uint8Array(8)
  new DataView(counter.buffer).setBigUint64(0, BigInt(window))
  const mac = hmac(sha256, new TextEncoder().encode(key), counter)
  return base64pad.baseEncode(mac).slice(0, length)
}

function md5Hex(text: string): string {
  return bytesToHex(md5(new TextEncoder().encode(text)))
}
