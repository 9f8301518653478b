/** True for 127.0.0.0/8 and ::1. */
export function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\./.test(address) || address === '::1'
}

/**
 * Gives the group under which addresses of one host count: the IPv4 address itself, also if it is mapped into IPv6, or the
 * /64 of an IPv6 address.
 */
export function addressGroup(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  return networkOf(address)
}

/** The first four groups of an IPv6 address, `::` filled in. */
function networkOf(address: string): string {
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? []
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...after].slice(0, 4).join(':')
}
