/** The routes of this machine as the kernel lists them (`/proc/net`); only Linux tells, and elsewhere there are none. */
import { closeSync, openSync } from 'node:fs'
import { endianness } from 'node:os'
import { type Cidr, tryParseAddressInRange } from '@mesh/core'
import type { HostRoute } from '@mesh/vpn'
import { readPart } from '../files/read-bounded.ts'

/** The most that is read of each list: some eight thousand routes, which take less than a tenth of a second. */
const MAX_LIST_BYTES = 1024 * 1024

// Flags of a route (linux/route.h, linux/ipv6_route.h)
const UP = 0x0001
const ANYCAST = 0x0010_0000
const CACHED = 0x0100_0000
const LOCAL = 0x8000_0000

/**
 * The routes of the main table, for IPv6 those of all tables; without default routes and the machine's own addresses.
 * @param except the name of an interface whose routes are left out: those into the VPN may be thousands, of which no more is read
 */
export function hostRoutes(except: string, folder = '/proc/net'): readonly HostRoute[] {
  return [
    ...parseIpv4Routes(readList(`${folder}/route`), except),
    ...parseIpv6Routes(readList(`${folder}/ipv6_route`), except),
  ]
}

function readList(file: string): string {
  try {
    const descriptor = openSync(file, 'r')
    try {
      const text = readPart(descriptor, { maxBytes: MAX_LIST_BYTES, fromStart: false }).toString('latin1')
      // the last line may be cut
      return text.slice(0, text.lastIndexOf('\n') + 1)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return ''
  }
}

/** Interface, destination, gateway, flags, ..., mask; addresses are numbers in the machine's order of bytes. */
export function parseIpv4Routes(text: string, except?: string): readonly HostRoute[] {
  return text.split('\n').flatMap((line) => {
    if (except !== undefined && line.startsWith(`${except}\t`)) return []
    const [name = '', to = '', , flags = '', , , , mask = ''] = line.split('\t').map((word) => word.trim())
    if (!/^[\da-f]{8}$/i.test(to) || !/^[\da-f]{8}$/i.test(mask) || !isKept(flags)) return []
    const bits = bytesOf(mask).reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0)
    return routeOf(name, `${bytesOf(to).join('.')}/${bits}`)
  })
}

/** Destination, length, source, its length, next hop, metric, counters, flags, interface. */
export function parseIpv6Routes(text: string, except?: string): readonly HostRoute[] {
  return text.split('\n').flatMap((line) => {
    if (except !== undefined && line.endsWith(` ${except}`)) return []
    const [to = '', length = '', , , , , , , flags = '', name = ''] = line.trim().split(/\s+/)
    if (!/^[\da-f]{32}$/i.test(to) || !isKept(flags)) return []
    return routeOf(name, `${to.match(/.{4}/g)?.join(':')}/${Number.parseInt(length, 16)}`)
  })
}

function isKept(flags: string): boolean {
  const set = Number.parseInt(flags, 16)
  return (set & UP) !== 0 && (set & (ANYCAST | CACHED | LOCAL)) === 0
}

function routeOf(name: string, text: string): readonly HostRoute[] {
  const range: Cidr | undefined = tryParseAddressInRange(text)?.range
  return range === undefined || range.endsWith('/0') ? [] : [{ interface: name, range }]
}

function bytesOf(hex: string): readonly number[] {
  const bytes = [...Buffer.from(hex, 'hex')]
  return endianness() === 'LE' ? bytes.toReversed() : bytes
}
