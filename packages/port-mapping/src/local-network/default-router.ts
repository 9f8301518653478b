/** The router that this machine's packets to the Internet go to. */
import { readFileSync } from 'node:fs'
import { type IpAddress, tryParseIp } from '@mesh/core'

/** Undefined where there is none, and where the system does not tell (only Linux does). */
export function defaultRouter(file = '/proc/net/route'): IpAddress | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  return parseRoutes(text)
}

/** Reads the kernel's table: interface, destination, gateway, ..., metric, mask; numbers in the machine's order of bytes. */
export function parseRoutes(text: string): IpAddress | undefined {
  const [best] = text
    .split('\n')
    .map((line) => line.split('\t').map((word) => word.trim()))
    .filter(([, to, gateway, , , , , mask]) => to === ZERO && mask === ZERO && gateway !== ZERO)
    .toSorted((one, other) => Number(one[6]) - Number(other[6]))
  const bytes = Buffer.from(best?.[2] ?? '', 'hex').toReversed()
  return bytes.length === 4 ? tryParseIp(bytes.join('.')) : undefined
}

const ZERO = '00000000'
