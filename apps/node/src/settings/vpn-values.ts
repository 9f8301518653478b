/** Reads the VPN's options, from text to addresses; each refusal is the form that would have been right. */
import {
  type AddressInRange,
  type Cidr,
  cidrContains,
  type IpAddress,
  parseCidr,
  type PeerId,
  tryParseAddressInRange,
  tryParseIp,
  tryParsePeerId,
} from '@mesh/core'
import type { Parsed } from './option.ts'

/** Where addresses are leased unless `--address` says otherwise. */
export const DEFAULT_VPN_RANGE = '10.1.0.0/24'

/** No machine of a VPN can have an address in these. */
const UNUSABLE: readonly (readonly [Cidr, string])[] = [
  [parseCidr('0.0.0.0/8'), 'unspecified'],
  [parseCidr('127.0.0.0/8'), 'loopback'],
  [parseCidr('169.254.0.0/16'), 'link-local'],
  [parseCidr('224.0.0.0/4'), 'multicast'],
  [parseCidr('240.0.0.0/4'), 'reserved'],
  [parseCidr('::/128'), 'unspecified'],
  [parseCidr('::1/128'), 'loopback'],
  [parseCidr('fe80::/10'), 'link-local'],
  [parseCidr('ff00::/8'), 'multicast'],
]

/** Reads an address with its range, `10.1.0.11/24`. */
export function parseVpnAddress(text: string): Parsed<AddressInRange> {
  const parsed = tryParseAddressInRange(text)
  if (parsed === undefined) return { expected: 'an address with the length of its range, like 10.1.0.11/24' }
  const kind = unusableKind(parsed.address)
  return kind === undefined
    ? { value: parsed }
    : { expected: `an address of machines, which ${kind} ones are not` }
}

/** Reads an address, `10.1.0.11`. */
export function parseVpnHost(text: string): Parsed<IpAddress> {
  const address = tryParseIp(text)
  if (address === undefined) return { expected: 'an IP address without a length, like 10.1.0.11' }
  const kind = unusableKind(address)
  return kind === undefined
    ? { value: address }
    : { expected: `an address of machines, which ${kind} ones are not` }
}

/** A network behind this machine, and how much it costs to go there. */
export interface OfferedRoute {
  readonly range: Cidr
  readonly metric: number
}

/** The greatest metric that a kernel takes. */
const MAX_METRIC = 0xffff_ffff

/** Reads `192.168.7.0/24` or `192.168.7.0/24,metric=10`; the metric is 0 where none is given. */
export function parseOfferedRoute(text: string): Parsed<OfferedRoute> {
  const [network = '', ...rest] = text.split(',')
  const route = parseRoute(network)
  if ('expected' in route) return route
  const [, digits = '0'] = /^metric=(\d{1,10})$/.exec(rest[0] ?? '') ?? []
  const metric = Number(digits)
  const isRight = rest.length === 0 || (rest.length === 1 && rest[0] === `metric=${digits}`)
  return isRight && metric <= MAX_METRIC
    ? { value: { range: route.value, metric } }
    : { expected: `a network like ${route.value}, or with a metric like ${route.value},metric=10` }
}

/** `192.168.7.0/24`; `0.0.0.0/0` and `::/0` are everything. */
export function parseRoute(text: string): Parsed<Cidr> {
  const parsed = tryParseAddressInRange(text)
  if (parsed === undefined) return { expected: 'a network like 192.168.7.0/24' }
  const { address, range, prefixLength } = parsed
  if (!range.startsWith(`${address}/`)) return { expected: `a network without the bits of a host: ${range}` }
  const kind = prefixLength === 0 ? undefined : unusableKind(address)
  return kind === undefined
    ? { value: range }
    : { expected: `a network of machines, which ${kind} ones are not` }
}

export interface StaticPeer {
  readonly address: IpAddress
  readonly peer: PeerId
}

/** Reads an address and its peer: `10.1.0.12:12D3KooW…`, `[fd00::2]:12D3KooW…`. */
export function parseStaticPeer(text: string): Parsed<StaticPeer> {
  const [, inBrackets, bare = '', id = ''] = /^(?:\[([^\]]*:[^\]]*)\]|([^:]*)):([^:]*)$/.exec(text) ?? []
  const address = parseVpnHost(inBrackets ?? bare)
  const peer = tryParsePeerId(id)
  if ('expected' in address || peer === undefined) {
    return {
      expected: 'an address and the peer that has it, like 10.1.0.12:12D3KooW… or [fd00::2]:12D3KooW…',
    }
  }
  return { value: { address: address.value, peer } }
}

/** Gives what was checked when the settings were resolved, so that nothing is left out. */
export function valuesOf<Value>(texts: readonly string[], parse: (text: string) => Parsed<Value>): Value[] {
  return texts.map(parse).flatMap((parsed) => ('value' in parsed ? [parsed.value] : []))
}

/** Checks an option whose value stays a text; gives what would have been right. */
export function refusalOf<Value>(
  parse: (text: string) => Parsed<Value>,
): (text: string) => string | undefined {
  return (text) => {
    const parsed = parse(text)
    return 'expected' in parsed ? parsed.expected : undefined
  }
}

export function isIpv6(address: IpAddress): boolean {
  return address.includes(':')
}

function unusableKind(address: IpAddress): string | undefined {
  return UNUSABLE.find(([range]) => cidrContains(range, address))?.[1]
}
