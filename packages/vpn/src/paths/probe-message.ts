/**
 * Probes: datagrams on the engine's socket that are no WireGuard (docs/PROTOCOLS.md, 'Paths over UDP'). Pure.
 *
 * ```text
 * ping: "mp" 1 1, token (8), nonce (8), length (2), epoch (4), code (16), zeros up to the length
 * pong: "mp" 1 2, token (8), nonce (8), the ping's length (2), observed address (16) and port (2), code (16)
 * ```
 *
 * The token is its receiver's. The code is the beginning of HMAC-SHA256 over all before it. Numbers are big-endian.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Random } from '@mesh/core'
import type { Endpoint } from '@mesh/engine'
import { hexOf } from '../keys/secrets.ts'
import { addressBytes, addressOf } from '../wire/address-bytes.ts'
import { PATH_TOKEN_BYTES, PROBE_MAC_BYTES } from './limits.ts'

const MAGIC = [0x6d, 0x70, 1] as const
const [PING, PONG] = [1, 2]
const TOKEN_AT = 4
const NONCE_AT = TOKEN_AT + PATH_TOKEN_BYTES
const LENGTH_AT = NONCE_AT + 8
const EPOCH_AT = LENGTH_AT + 2
const PING_MAC_AT = EPOCH_AT + 4
const ADDRESS_AT = LENGTH_AT + 2
const PORT_AT = ADDRESS_AT + 16

/** Length of the shortest ping: one without padding. */
export const LEAST_PING_BYTES = PING_MAC_AT + PROBE_MAC_BYTES
const PONG_BYTES = PORT_AT + 2 + PROBE_MAC_BYTES

interface Ping {
  readonly kind: 'ping'
  readonly nonce: bigint
  readonly length: number
  /** The epoch of the socket that it left by. */
  readonly epoch: number
}

export interface Pong {
  readonly kind: 'pong'
  readonly nonce: bigint
  readonly length: number
  /** Where the ping came from, as the peer saw it. */
  readonly observed: Endpoint
}

export type Probe = Ping | Pong

export function encodeProbe(
  probe: Probe,
  { token, key }: { readonly token: Uint8Array; readonly key: Uint8Array },
): Uint8Array {
  const bytes = Buffer.alloc(probe.kind === 'ping' ? Math.max(probe.length, LEAST_PING_BYTES) : PONG_BYTES)
  bytes.set([...MAGIC, probe.kind === 'ping' ? PING : PONG])
  bytes.set(token, TOKEN_AT)
  bytes.writeBigUInt64BE(probe.nonce, NONCE_AT)
  bytes.writeUInt16BE(probe.length, LENGTH_AT)
  if (probe.kind === 'ping') bytes.writeUInt32BE(probe.epoch, EPOCH_AT)
  else {
    bytes.set(addressBytes(probe.observed.address, 16), ADDRESS_AT)
    bytes.writeUInt16BE(probe.observed.port, PORT_AT)
  }
  const end = macAt(probe.kind)
  bytes.set(codeOf(bytes.subarray(0, end), key), end)
  return bytes
}

/** Draws 53 random bits: peers that read the nonce as a floating-point number repeat it without loss. */
export function drawProbeNonce(random: Random): bigint {
  return Buffer.from(random.bytes(8)).readBigUInt64BE() >> 11n
}

/** The token that a probe names, in hex; undefined: it is no probe. */
export function probeToken(bytes: Uint8Array): string | undefined {
  if (bytes.length < LEAST_PING_BYTES || MAGIC.some((byte, at) => bytes[at] !== byte)) return undefined
  return hexOf(bytes.subarray(TOKEN_AT, NONCE_AT))
}

/**
 * Undefined when the bytes are no probe made with the key.
 *
 * @param bytes its beginning, at least 64 bytes of it
 * @param length how long it was
 */
export function decodeProbe(bytes: Uint8Array, length: number, key: Uint8Array): Probe | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const kind = bytes[3] === PING ? 'ping' : bytes[3] === PONG ? 'pong' : undefined
  if (kind === undefined || bytes.length < macAt(kind) + PROBE_MAC_BYTES) return undefined
  const end = macAt(kind)
  const code = codeOf(bytes.subarray(0, end), key)
  if (!timingSafeEqual(code, bytes.subarray(end, end + PROBE_MAC_BYTES))) return undefined
  const nonce = view.readBigUInt64BE(NONCE_AT)
  const told = view.readUInt16BE(LENGTH_AT)
  if (kind === 'ping') {
    const epoch = view.readUInt32BE(EPOCH_AT)
    return Math.max(told, LEAST_PING_BYTES) === length ? { kind, nonce, length, epoch } : undefined
  }
  const address = addressOf(bytes.subarray(ADDRESS_AT, PORT_AT))
  return { kind, nonce, length: told, observed: { address, port: view.readUInt16BE(PORT_AT) } }
}

function macAt(kind: Probe['kind']): number {
  return kind === 'ping' ? PING_MAC_AT : PORT_AT + 2
}

function codeOf(bytes: Uint8Array, key: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(bytes).digest().subarray(0, PROBE_MAC_BYTES)
}
