/** Takes out of a text what tells strangers who a network is: ids, addresses of the outside, names. */

/** @param names of machines and of the network's own things, to be taken out wherever they stand as a word */
export function redact(text: string, names: readonly string[]): string {
  const plain = text
    .replaceAll(PEER_ID, (id) => `…${id.slice(-ID_CHARS)}`)
    .replaceAll(HOST_OF_URL, '$1[name]')
    .replaceAll(HOST_OF_MULTIADDR, '/$1/[name]')
    .replaceAll(HOME, '$1[name]')
    .replaceAll(IPV4, (address) => (isInnerIpv4(address) ? address : '[address]'))
    .replaceAll(IPV6, (address) => (isOuterIpv6(address) ? '[address]' : address))
  const known = names.filter((name) => name.length > 1).toSorted((a, b) => b.length - a.length)
  if (known.length === 0) return plain
  const words = known.map((name) => name.replaceAll(SPECIAL, '\\$&')).join('|')
  return plain.replaceAll(new RegExp(`(?<![\\w-])(?:${words})(?![\\w-])`, 'gi'), '[name]')
}

/** How much of an id stays, so that the same peer can be recognised in one report. */
const ID_CHARS = 6
const PEER_ID = /\b(?:12D3Koo|16Uiu2|Qm)[1-9A-HJ-NP-Za-km-z]{20,}\b/g
/** The host of a URL that begins with a letter; addresses are looked at apart. */
const HOST_OF_URL = /\b(https?:\/\/)(?!\[)(?=[^/\s]*[a-z])[^/\s]+/gi
const HOST_OF_MULTIADDR = /\/(dns[46]?|dnsaddr)\/[^/\s]+/g
/** Characters that mean more than themselves in a pattern. */
const SPECIAL = /[.*+?^${}()|[\]\\/]/g
const HOME = /(\/(?:home|Users)\/)[^/\s]+/g
const IPV4 = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g
const IPV6 = /(?<![\w:.])[0-9a-f:]*:[0-9a-f]*:[0-9a-f:]*(?![\w:])/gi

/** Private, loopback and link-local addresses tell nothing of the outside. */
function isInnerIpv4(address: string): boolean {
  const [a = 0, b = 0] = address.split('.').map(Number)
  if (a === 0 || a === 10 || a === 127) return true
  return (a === 192 && b === 168) || (a === 169 && b === 254) || (a === 172 && b >= 16 && b < 32)
}

/** A time of day has two colons; an address has `::` or more of them. */
function isOuterIpv6(text: string): boolean {
  const isAddress = text.includes('::') || text.split(':').length > 4
  return isAddress && !/^(?:::1?$|f[cd]|fe[89ab])/i.test(text)
}
