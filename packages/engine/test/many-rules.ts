import { parseCidr } from '@mesh/core'
import type { PacketRule, PacketRules } from '../src/index.ts'

/** Sets from here on are groups of machines; those below are one machine each. */
const GROUPS_FROM = 100_000
const GROUPS = 50

/**
 * Draws rules of a large network: `count` machines, each in a set of its own and in a group, and as many rules between them.
 * The last two rules let the machines at the two `ends` reach each other, each given by its ranges.
 */
export function manyRules(count: number, ends: readonly [readonly string[], readonly string[]]): PacketRules {
  const group = (n: number) => GROUPS_FROM + (n % GROUPS)
  const machines = Array.from({ length: count - ends.length }, (_, n) => ({
    range: parseCidr(`10.${50 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}/32`),
    sets: [n, group(n)],
  }))
  const own = ends.flatMap((ranges, end) =>
    ranges.map((range) => ({ range: parseCidr(range), sets: [count + end] })),
  )
  const on = [
    { protocol: 'tcp', firstPort: 22, lastPort: 22 },
    { protocol: 'udp', firstPort: 1_000, lastPort: 2_000 },
  ] as const
  const others = machines.map((_, n): PacketRule => ({ from: (n * 7) % count, to: group(n), on }))
  const both: PacketRule[] = [
    { from: count, to: count + 1, on: [] },
    { from: count + 1, to: count, on: [] },
  ]
  return { ranges: [...machines, ...own], layers: [[...others, ...both]], silent: false }
}
