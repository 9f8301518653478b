import { readFileSync } from 'node:fs'
import type { IpFamily } from '@mesh/vpn'

/** Says whether the kernel passes packets of the family on; undefined: unknown. */
export function forwards(family: IpFamily): boolean | undefined {
  const name = family === 'ipv4' ? 'ipv4/ip_forward' : 'ipv6/conf/all/forwarding'
  try {
    return readFileSync(`/proc/sys/net/${name}`, 'utf8').trim() !== '0'
  } catch {
    return undefined
  }
}
