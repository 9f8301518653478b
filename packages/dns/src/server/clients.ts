/** Who asks: this machine and the VPN, a network nearby, or somebody out in the Internet. */
import { addressGroup, type Cidr, cidrContains, parseCidr, tryParseIp } from '@mesh/core'
import type { Lane } from '@mesh/core/limits'

export interface Client {
  readonly address: string
  /** `trusted`: this machine and members; `near`: private networks; `far`: all else, who get no forwarding. */
  readonly place: 'trusted' | 'near' | 'far'
  /** The client for whom work is counted; undefined for this machine. */
  readonly rated: string | undefined
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(parseCidr)
const PRIVATE = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '169.254.0.0/16',
  'fc00::/7',
  'fe80::/10',
].map(parseCidr)

/** @param ranges of the VPN */
export function clientOf(text: string, ranges: readonly Cidr[]): Client {
  const plain = text.split('%')[0] ?? ''
  const address = tryParseIp(plain.replace(/^::ffff:(?=\d+\.)/, ''))
  const isIn = (all: readonly Cidr[]) =>
    address !== undefined && all.some((range) => cidrContains(range, address))
  if (isIn(LOOPBACK)) return { address: text, place: 'trusted', rated: undefined }
  const place = isIn(ranges) ? 'trusted' : isIn(PRIVATE) ? 'near' : 'far'
  return { address: text, place, rated: networkOf(address ?? plain) }
}

/** The lane of the loop budget in which a client's questions are answered. */
export const laneOf = ({ place }: Client): Lane => (place === 'trusted' ? 'members' : 'strangers')

/** A /24 or a /64: addresses in it cost an attacker nothing. */
const networkOf = (address: string) => addressGroup(address).replace(/\.\d+$/, '')
