/**
 * Where members may go through this node. A name is resolved here, its addresses are judged, and just those are dialled,
 * so that a name cannot mean one address for the check and another for the connection. Served is what anybody on the
 * Internet could reach: no loopback, private or link-local address, and none of this machine.
 */
import { type Cidr, cidrContains, type Clock, type IpAddress, toError, tryParseIp } from '@mesh/core'
import ipaddr from 'ipaddr.js'
import { MAX_DIALLED_ADDRESSES, MAX_HOST_LENGTH } from '../limits.ts'
import { wordsOf } from '../streams/dial.ts'
import { RequestRefused } from '../wire/accept.ts'
import { createNameResolver, type ResolveName } from './resolve-name.ts'
import type { Asker } from './system-names.ts'

export interface DestinationsInit {
  /** Served although private, loopback or this machine's. */
  readonly allow: readonly Cidr[]
  /** Addresses of this machine's interfaces. */
  readonly ownAddresses: () => readonly string[]
  readonly resolveName?: ResolveName
  readonly clock: Clock
}

export function createDestinations(init: DestinationsInit) {
  const { allow, ownAddresses, resolveName = createNameResolver() } = init

  function refusal(address: IpAddress): string | undefined {
    if (allow.some((range) => cidrContains(range, address))) return undefined
    const kind = kindOf(address)
    if (kind !== 'unicast') return `${address} is not served here: ${WORDS.get(kind) ?? kind}`
    if (ownAddresses().some((own) => tryParseIp(own) === address)) {
      return `${address} is not served here: an address of the egress node itself`
    }
    return undefined
  }

  return {
    /** The addresses of the host that may be dialled. @throws RequestRefused `forbidden`, `target_down`; the signal's reason */
    async resolve(host: string, asker: Asker): Promise<readonly IpAddress[]> {
      const addresses = (await addressesOf(host, (name) => resolveName(name, asker))).slice(
        0,
        MAX_DIALLED_ADDRESSES,
      )
      const served = addresses.filter((address) => refusal(address) === undefined)
      if (served.length > 0) return served
      const [first] = addresses
      if (first === undefined) throw new RequestRefused('target_down', `${host} has no address`)
      throw new RequestRefused('forbidden', refusal(first) ?? `${host} is not served here`)
    },
  }
}

export type Destinations = ReturnType<typeof createDestinations>

const WORDS: ReadonlyMap<string, string> = new Map([
  ['loopback', 'a loopback address'],
  ['private', 'a private address'],
  ['uniqueLocal', 'a private address'],
  ['linkLocal', 'a link-local address'],
  ['carrierGradeNat', 'an address inside a provider network'],
  ['multicast', 'a multicast address'],
  ['unspecified', 'no address of a host'],
  ['broadcast', 'no address of a host'],
  ['reserved', 'no address of the Internet'],
])

/** IPv4 inside of IPv6 (NAT64) is judged as what it leads to; other tunnels are no plain unicast. */
function kindOf(address: IpAddress): string {
  const parsed = ipaddr.process(address)
  const kind = parsed.range()
  if (kind === 'rfc6052') return ipaddr.fromByteArray(parsed.toByteArray().slice(12)).range()
  // what else the Internet has of IPv6 may lead to what IPv4 would not: compatible addresses, NAT64 of one's own
  if (parsed instanceof ipaddr.IPv6 && kind === 'unicast' && !parsed.match(GLOBAL_UNICAST)) return 'reserved'
  return kind
}

/** All of IPv6 that is given to hosts of the Internet (RFC 4291, 2.4; the registry of IANA). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

async function addressesOf(
  host: string,
  resolveName: (name: string) => ReturnType<ResolveName>,
): Promise<readonly IpAddress[]> {
  if (host.length > MAX_HOST_LENGTH)
    throw new RequestRefused('bad_request', 'the name of the host is too long')
  const literal = tryParseIp(host)
  if (literal !== undefined) return [plain(literal)]
  try {
    return (await resolveName(host)).flatMap((text) => {
      const address = tryParseIp(text)
      return address === undefined ? [] : [plain(address)]
    })
  } catch (error) {
    throw new RequestRefused('target_down', `${host}: ${wordsOf(toError(error))}`)
  }
}

/** Gives `10.0.0.1` for `::ffff:10.0.0.1`, and others as they are. */
function plain(address: IpAddress): IpAddress {
  return tryParseIp(ipaddr.process(address).toString()) ?? address
}
