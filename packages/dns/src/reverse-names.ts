import type { IpAddress } from '@mesh/core'

/** `5.0.1.10.in-addr.arpa.`, or the 32 digits under `ip6.arpa.`. */
export function reverseName(address: IpAddress): string {
  if (!address.includes(':')) return `${address.split('.').toReversed().join('.')}.in-addr.arpa.`
  return `${ipv6Digits(address).toReversed().join('.')}.ip6.arpa.`
}

/** The zones that hold the reverse names of a range: `0.1.10.in-addr.arpa.` of 10.1.0.0/24. */
export function reverseZones(range: string): readonly string[] {
  const [network = '', length = '0'] = range.split('/')
  const bits = Number(length)
  const isV6 = network.includes(':')
  const [step, base, parts] = isV6
    ? [4, 16, ipv6Digits(network).map((digit) => Number.parseInt(digit, 16))]
    : [8, 10, network.split('.').map(Number)]
  const whole = Math.floor(bits / step)
  const count = 2 ** ((step - (bits % step)) % step)
  const suffix = isV6 ? 'ip6.arpa.' : 'in-addr.arpa.'
  const fixed = parts.slice(0, whole).map((part) => part.toString(base))
  const zoneOf = (labels: readonly string[]) => [...labels.toReversed(), suffix].join('.')
  if (count === 1) return [zoneOf(fixed)]
  const first = parts[whole] ?? 0
  return Array.from({ length: count }, (_, at) => zoneOf([...fixed, (first + at).toString(base)]))
}

function ipv6Digits(address: string): readonly string[] {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return [...before, ...(tail === undefined ? [] : zeros), ...after]
    .map((group) => group.padStart(4, '0'))
    .flatMap((group) => group.split(''))
}
