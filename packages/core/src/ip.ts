/** IP addresses and CIDR ranges as canonical text, so that equal addresses are equal strings (and ledger keys). */
import ipaddr from 'ipaddr.js'
import { BoundedMap } from './bounded-map.ts'
import { MeshError } from './mesh-error.ts'

declare const ipBrand: unique symbol
declare const cidrBrand: unique symbol
/** Canonical text: dotted IPv4, or IPv6 in the short lower-case form of RFC 5952. */
export type IpAddress = string & { readonly [ipBrand]: true }
/** Network address and prefix length, host bits zero: `10.1.0.0/24`. */
export type Cidr = string & { readonly [cidrBrand]: true }

/** The most texts of each kind whose parsed form is kept: the same few of a network are asked for again and again. */
const MAX_PARSED = 1_024

export function tryParseIp(text: string): IpAddress | undefined {
  return text.length > 45 ? undefined : parsedIp(text)
}

const parsedIp = remembering(canonicalOf)

function canonicalOf(text: string): IpAddress | undefined {
  // ipaddr.js takes octal, hexadecimal and short IPv4 forms, which are other addresses elsewhere
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return text as IpAddress
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return undefined
  return ipaddr.IPv6.parse(text).toRFC5952String() as IpAddress
}

/** @throws MeshError `core.bad_ip` */
export function parseIp(text: string): IpAddress {
  const ip = tryParseIp(text)
  if (ip !== undefined) return ip
  throw new MeshError('core.bad_ip', `not an IP address: ${JSON.stringify(text.slice(0, 60))}`)
}

/** An address with its prefix length, as `--address 10.1.0.11/24` gives it. */
export interface AddressInRange {
  readonly address: IpAddress
  readonly range: Cidr
  readonly prefixLength: number
}

/** Splits `address/length` into the address and the range that it lies in. */
export function tryParseAddressInRange(text: string): AddressInRange | undefined {
  const slash = text.indexOf('/')
  const address = tryParseIp(text.slice(0, slash === -1 ? text.length : slash))
  if (slash === -1 || address === undefined || !/^\d{1,3}$/.test(text.slice(slash + 1))) return undefined
  const prefixLength = Number(text.slice(slash + 1))
  const parsed = ipaddr.parse(address)
  if (prefixLength > (parsed.kind() === 'ipv4' ? 32 : 128)) return undefined
  return { address, prefixLength, range: networkOf(address, prefixLength) }
}

/** `10.1.0.11/24`: the opposite of `tryParseAddressInRange`. */
export function formatAddressInRange(given: {
  readonly address: string
  readonly prefixLength: number
}): string {
  return `${given.address}/${given.prefixLength}`
}

/** @throws MeshError `core.bad_cidr` */
export function parseCidr(text: string): Cidr {
  const parsed = tryParseAddressInRange(text)
  if (parsed !== undefined) return parsed.range
  throw new MeshError('core.bad_cidr', `not a range: ${JSON.stringify(text.slice(0, 60))}`, {
    hint: 'A range looks like 10.1.0.0/24 or fd00::/64.',
  })
}

/** False across address families. */
export function cidrContains(range: Cidr, address: IpAddress): boolean {
  const [network, length] = parsedCidr(range)
  const parsed = parsedAddress(address)
  return parsed.kind() === network.kind() && parsed.match(network, length)
}

const parsedCidr = remembering((range: Cidr) => ipaddr.parseCIDR(range))
const parsedAddress = remembering((address: IpAddress) => ipaddr.parse(address))

/** Keeps what a pure function gave for the last texts. */
function remembering<Text extends string, T>(parse: (text: Text) => T): (text: Text) => T {
  const known = new BoundedMap<Text, { readonly parsed: T }>(MAX_PARSED)
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before.parsed
    const parsed = parse(text)
    known.set(text, { parsed })
    return parsed
  }
}

function networkOf(address: IpAddress, prefixLength: number): Cidr {
  const bytes = ipaddr.parse(address).toByteArray()
  const masked = bytes.map(
    (byte, at) => byte & (0xff << Math.max(0, Math.min(8, (at + 1) * 8 - prefixLength))),
  )
  const network = ipaddr.fromByteArray(masked)
  const text = network instanceof ipaddr.IPv6 ? network.toRFC5952String() : network.toString()
  return `${text}/${prefixLength}` as Cidr
}
