/**
 * Requests for port mappings and their answers, for UDP and IPv4. Speaks PCP (RFC 6887, sections 7 and 11.1) and the older NAT-PMP
 * (RFC 6886, sections 3.2 and 3.3). A router without PCP answers with its own version. Pure.
 */
import { type IpAddress, parseIp } from '@mesh/core'

/** The port of routers for both protocols. */
export const PORT_CONTROL_PORT = 5351
/** Length of the number by which a PCP mapping is known as ours. */
export const PCP_NONCE_BYTES = 12

const [NAT_PMP, PCP] = [0, 2]
const RESPONSE = 0x80
const MAP = 1
const [NAT_PMP_EXTERNAL, NAT_PMP_MAP_UDP] = [0, 1]
const UDP = 17
const PCP_BYTES = 60
const SUCCESS = 0
const UNSUPPORTED_VERSION = 1

export interface MappingRequest {
  /** The port of this machine. */
  readonly port: number
  /** The router's port that is wished for. */
  readonly external: number
  /** How long it should last, in s; 0 ends it. */
  readonly lifetimeS: number
}

/** The answer of a router. `old`: it speaks NAT-PMP alone. `refused`: it says no. */
export type PortControlAnswer =
  | {
      readonly kind: 'mapped'
      readonly port: number
      readonly external: number
      readonly lifetimeS: number
      /** Undefined: NAT-PMP tells it by an answer of its own. */
      readonly address: IpAddress | undefined
    }
  | { readonly kind: 'address'; readonly address: IpAddress }
  | { readonly kind: 'old' }
  | { readonly kind: 'refused'; readonly result: number }

/** @param own this machine's address towards the router, which PCP compares with the packet's source */
export function encodePcpMap(
  { port, external, lifetimeS }: MappingRequest,
  { own, nonce }: { readonly own: IpAddress; readonly nonce: Uint8Array },
): Uint8Array {
  const bytes = Buffer.alloc(PCP_BYTES)
  bytes.set([PCP, MAP])
  bytes.writeUInt32BE(lifetimeS, 4)
  bytes.set(mapped(own), 8)
  bytes.set(nonce, 24)
  bytes[36] = UDP
  bytes.writeUInt16BE(port, 40)
  bytes.writeUInt16BE(external, 42)
  bytes.set(mapped('0.0.0.0'), 44)
  return bytes
}

export function encodeNatPmpMap({ port, external, lifetimeS }: MappingRequest): Uint8Array {
  const bytes = Buffer.alloc(12)
  bytes.set([NAT_PMP, NAT_PMP_MAP_UDP])
  bytes.writeUInt16BE(port, 4)
  bytes.writeUInt16BE(external, 6)
  bytes.writeUInt32BE(lifetimeS, 8)
  return bytes
}

/** Asks a router that speaks NAT-PMP for its address outside. */
export function encodeNatPmpAddress(): Uint8Array {
  return Uint8Array.of(NAT_PMP, NAT_PMP_EXTERNAL)
}

/** Undefined: it is no answer, or none to a request with this nonce. */
export function decodePortControl(answer: Uint8Array, nonce: Uint8Array): PortControlAnswer | undefined {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.length)
  if (bytes.length < 4 || ((bytes[1] ?? 0) & RESPONSE) === 0) return undefined
  if (bytes[0] === PCP) return decodePcp(bytes, nonce)
  return bytes[0] === NAT_PMP ? decodeNatPmp(bytes) : undefined
}

function decodePcp(bytes: Buffer, nonce: Uint8Array): PortControlAnswer | undefined {
  const result = bytes[3] ?? 0
  const isWhole = bytes.length >= PCP_BYTES && bytes[1] === (MAP | RESPONSE) && bytes[36] === UDP
  const isOurs = isWhole && bytes.subarray(24, 24 + PCP_NONCE_BYTES).equals(nonce)
  // a router of a later version repeats less of the request
  if (result !== SUCCESS) return isOurs || !isWhole ? { kind: 'refused', result } : undefined
  if (!isOurs) return undefined
  return {
    kind: 'mapped',
    port: bytes.readUInt16BE(40),
    external: bytes.readUInt16BE(42),
    lifetimeS: bytes.readUInt32BE(4),
    address: isMapped(bytes.subarray(44, 56)) ? unmapped(bytes.subarray(44, 60)) : undefined,
  }
}

function decodeNatPmp(bytes: Buffer): PortControlAnswer | undefined {
  const result = bytes.readUInt16BE(2)
  const operation = (bytes[1] ?? 0) & ~RESPONSE
  // a router's answer to PCP, which it takes for a later version of its own (RFC 6886, section 3.5)
  if (result === UNSUPPORTED_VERSION) return { kind: 'old' }
  if (result !== SUCCESS) return { kind: 'refused', result }
  if (operation === NAT_PMP_EXTERNAL && bytes.length >= 12)
    return { kind: 'address', address: unmapped(bytes.subarray(8, 12)) }
  if (operation !== NAT_PMP_MAP_UDP || bytes.length < 16) return undefined
  return {
    kind: 'mapped',
    port: bytes.readUInt16BE(8),
    external: bytes.readUInt16BE(10),
    lifetimeS: bytes.readUInt32BE(12),
    address: undefined,
  }
}

/** An IPv4 address as PCP writes it, mapped into IPv6. */
function mapped(address: string): readonly number[] {
  return [...new Uint8Array(10), 0xff, 0xff, ...address.split('.').map(Number)]
}

const MAPPED = Buffer.from(mapped('0.0.0.0')).subarray(0, 12)
/** True for the first bytes of an IPv4 address as PCP writes it. */
const isMapped = (bytes: Buffer) => bytes.equals(MAPPED)

/** The IPv4 address in the last four bytes. */
function unmapped(bytes: Uint8Array): IpAddress {
  return parseIp(bytes.subarray(-4).join('.'))
}
