/** Says whether an address is on a link of this machine, so that no router is between. Pure. */
import { cidrContains, tryParseAddressInRange, tryParseIp } from '@mesh/core'

/** The addresses of each interface as `os.networkInterfaces()` gives them: `192.168.1.5/24`. */
type Interfaces = Readonly<Record<string, readonly { readonly cidr: string | null }[] | undefined>>

/** @param address an IP address; what is none is on no link */
export function isOnLink(address: string, interfaces: Interfaces): boolean {
  const ip = tryParseIp(address)
  if (ip === undefined) return false
  return Object.values(interfaces).some((entries = []) =>
    entries.some(({ cidr }) => {
      const own = tryParseAddressInRange(cidr ?? '')
      return own !== undefined && cidrContains(own.range, ip)
    }),
  )
}
