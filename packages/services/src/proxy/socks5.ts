/** SOCKS5 (RFC 1928), what a client says: no authentication, CONNECT, names resolved by the egress node. */
import { MeshError } from '@mesh/core'
import { answerOf } from '../wire/request.ts'
import type { Destination } from './open-tunnel.ts'

export const SOCKS_VERSION = 5
const CONNECT = 1
const NO_AUTHENTICATION = 0
const NONE_ACCEPTABLE = 0xff

const TYPE_IPV4 = 1
const TYPE_NAME = 3
const TYPE_IPV6 = 4

/** The result of each step: what to send, and how many bytes of the input it took. */
export type SocksStep =
  /** More bytes are needed. */
  | { readonly kind: 'more' }
  | {
      readonly kind: 'methods'
      readonly taken: number
      readonly reply: Uint8Array
      readonly isAccepted: boolean
    }
  | { readonly kind: 'connect'; readonly taken: number; readonly destination: Destination }
  | { readonly kind: 'refused'; readonly reply: Uint8Array }

const MORE: SocksStep = { kind: 'more' }

/** The first message: which ways of authentication the client knows. */
export function readGreeting(bytes: Uint8Array): SocksStep {
  const [version, count] = bytes
  if (version === undefined || count === undefined) return MORE
  if (version !== SOCKS_VERSION)
    return { kind: 'refused', reply: Uint8Array.of(SOCKS_VERSION, NONE_ACCEPTABLE) }
  if (bytes.byteLength < 2 + count) return MORE
  const isAccepted = bytes.subarray(2, 2 + count).includes(NO_AUTHENTICATION)
  const reply = Uint8Array.of(SOCKS_VERSION, isAccepted ? NO_AUTHENTICATION : NONE_ACCEPTABLE)
  return { kind: 'methods', taken: 2 + count, reply, isAccepted }
}

/** The second: where to. */
export function readRequest(bytes: Uint8Array): SocksStep {
  const [version, command, , type, first] = bytes
  if (bytes.byteLength < 5 || first === undefined) return MORE
  if (version !== SOCKS_VERSION) return { kind: 'refused', reply: encodeReply('failed') }
  if (command !== CONNECT) return { kind: 'refused', reply: encodeReply('command') }
  const length = type === TYPE_IPV4 ? 4 : type === TYPE_IPV6 ? 16 : type === TYPE_NAME ? first + 1 : undefined
  if (length === undefined) return { kind: 'refused', reply: encodeReply('addressType') }
  const end = 4 + length + 2
  if (bytes.byteLength < end) return MORE
  const host = readHost(type === TYPE_NAME, bytes.subarray(4, 4 + length))
  const port = (bytes[end - 2] ?? 0) * 256 + (bytes[end - 1] ?? 0)
  if (host === '' || port === 0) return { kind: 'refused', reply: encodeReply('failed') }
  return { kind: 'connect', taken: end, destination: { host, port } }
}

function readHost(isName: boolean, bytes: Uint8Array): string {
  if (isName) return Buffer.from(bytes.subarray(1)).toString('latin1')
  if (bytes.byteLength === 4) return bytes.join('.')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: 8 }, (_, at) => view.getUint16(2 * at).toString(16)).join(':')
}

const REPLIES = {
  ok: 0,
  failed: 1,
  forbidden: 2,
  noNetwork: 3,
  noHost: 4,
  command: 7,
  addressType: 8,
} as const

/** The address in it means nothing to clients that connect. */
export function encodeReply(reply: keyof typeof REPLIES): Uint8Array {
  return Uint8Array.of(SOCKS_VERSION, REPLIES[reply], 0, TYPE_IPV4, 0, 0, 0, 0, 0, 0)
}

export function replyOf(error: unknown): keyof typeof REPLIES {
  const answer = answerOf(error)
  if (answer === 'forbidden') return 'forbidden'
  if (answer === 'target_down') return 'noHost'
  return error instanceof MeshError && error.code === 'services.no_provider' ? 'noNetwork' : 'failed'
}
