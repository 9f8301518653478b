/** Keeps of an answer by mDNS what may be true: a peer on a link of this machine, at addresses of that link. Pure. */
import { tryParseIp } from '@mesh/core'
import { ipOf, isLoopbackIp } from '../addresses/address-rules.ts'
import { isOnLink } from '@mesh/port-mapping'
import type { Find } from './find.ts'

/** The addresses of each interface as `os.networkInterfaces()` gives them. */
type Interfaces = Readonly<
  Record<string, readonly { readonly address: string; readonly cidr: string | null }[] | undefined>
>

/**
 * Removes names, addresses behind a router, and this machine's own addresses unless it answered itself. A machine that answers by mDNS
 * is on the link. Otherwise it could make all nodes there dial any host.
 *
 * @returns the find with what is left; undefined where nothing is
 */
export function localFind(find: Find, from: string, interfaces: Interfaces): Find | undefined {
  const own = new Set(
    Object.values(interfaces).flatMap((entries = []) => entries.map(({ address }) => address)),
  )
  const isOwn = own.has(from)
  const ip = tryParseIp(from)
  if (!isOwn && (ip === undefined || !isOnLink(from, interfaces))) return undefined
  const addresses = find.addresses.filter((address) => {
    const at = ipOf(address)
    const isFirst = /^\/ip[46]\//.test(address.toString())
    if (!isFirst || at === undefined || !isOnLink(at, interfaces)) return false
    return isOwn || (!isLoopbackIp(at) && !own.has(at))
  })
  return addresses.length === 0 ? undefined : { ...find, addresses }
}
