/**
 * The kernel's rules that lead all packets of this machine through the exit. Pure. In order:
 *
 * 1. Marked packets of this node use the machine's own routes.
 * 2. DNS goes along, also to servers of the local network.
 * 3. The local network is kept, if wanted.
 * 4. Everything else goes into the VPN, and nowhere else if the VPN is down.
 */
import { BROAD_IPV4_BITS, BROAD_IPV6_BITS, EXIT_TABLE, FIRST_PREFERENCE } from '../limits.ts'

export type Family = 'ipv4' | 'ipv6'

export interface ExitRulesInit {
  readonly mark: number
  readonly blockLan: boolean
}

interface Rule {
  readonly preference: number
  /** The words after `ip rule add pref NUMBER`. */
  readonly words: string
}

export function exitRules(family: Family, { mark, blockLan }: ExitRulesInit): readonly Rule[] {
  const broadest = (family === 'ipv4' ? BROAD_IPV4_BITS : BROAD_IPV6_BITS) - 1
  const table = `lookup ${EXIT_TABLE}`
  const rules: readonly (string | undefined)[] = [
    `fwmark ${mark} lookup main`,
    `fwmark ${mark} unreachable`,
    `ipproto udp dport 53 ${table}`,
    `ipproto tcp dport 53 ${table}`,
    'ipproto udp dport 53 unreachable',
    'ipproto tcp dport 53 unreachable',
    blockLan ? undefined : `lookup main suppress_prefixlength ${broadest}`,
    table,
    'unreachable',
  ]
  return rules.flatMap((words, at) =>
    words === undefined ? [] : [{ preference: FIRST_PREFERENCE + at, words }],
  )
}
