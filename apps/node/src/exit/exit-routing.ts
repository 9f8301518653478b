/**
 * Leads all that leaves this machine into the VPN, whose table names the exit: by rules of the kernel that outlive this
 * process, so that nothing goes past the exit while the node is down or was killed. They are set in place: at no moment
 * is a packet without a rule. `undoRouting` takes them away.
 */
import { existsSync } from 'node:fs'
import type { Logger } from '@mesh/core'
import { type ExitRulesInit, exitRules, type Family } from './exit-rules.ts'
import { ownPreferences } from './foreign-rules.ts'
import { EXIT_TABLE } from './limits.ts'
import { CommandFailure, exitError, runSystem, trySystem } from './system-command.ts'

const FLAGS = { ipv4: '-4', ipv6: '-6' } as const

/** The families that this machine has. */
function ownFamilies(): readonly Family[] {
  return existsSync('/proc/net/if_inet6') ? ['ipv4', 'ipv6'] : ['ipv4']
}

/** @throws MeshError `exit.no_policy_routing`, `exit.no_ip_command` */
export function applyRules(init: ExitRulesInit): void {
  for (const family of ownFamilies()) {
    try {
      applyFamily(family, init)
    } catch (error) {
      throw refusalOf(error)
    }
  }
}

/** @throws CommandFailure */
function applyFamily(family: Family, init: ExitRulesInit): void {
  const flag = FLAGS[family]
  const present = new Set(ownPreferences(runSystem('ip', [flag, 'rule', 'show'])))
  const rules = exitRules(family, init)
  const wanted = new Set(rules.map(({ preference }) => preference))
  // the last one first: what is not led yet has nowhere else to go
  for (const { preference, words } of rules.toReversed()) {
    if (!present.has(preference))
      runSystem('ip', [flag, 'rule', 'add', 'pref', String(preference), ...words.split(' ')])
  }
  for (const preference of present) {
    if (!wanted.has(preference)) runSystem('ip', [flag, 'rule', 'del', 'pref', String(preference)])
  }
}

/** Leads into the interface; to be called again when there is another one of that name. */
export function applyRoutes(interfaceName: string, log: Logger): void {
  for (const family of ownFamilies()) {
    const route = ['route', 'replace', 'default', 'dev', interfaceName, 'table', String(EXIT_TABLE)]
    try {
      runSystem('ip', [FLAGS[family], ...route])
    } catch (error) {
      // without it packets are dropped by the last rule
      log.warn('exit route not set', { interface: interfaceName, family, error })
    }
  }
}

export function undoRouting(): void {
  for (const family of ownFamilies()) {
    const flag = FLAGS[family]
    const present = ownPreferences(trySystem('ip', [flag, 'rule', 'show']) ?? '')
    for (const preference of present) trySystem('ip', [flag, 'rule', 'del', 'pref', String(preference)])
    trySystem('ip', [flag, 'route', 'flush', 'table', String(EXIT_TABLE)])
  }
}

/** True when rules of a node's exit are there. */
export function hasRules(): boolean {
  return ownFamilies().some(
    (family) => ownPreferences(trySystem('ip', [FLAGS[family], 'rule', 'show']) ?? '').length > 0,
  )
}

function refusalOf(error: unknown): Error {
  if (error instanceof CommandFailure && error.isMissing) {
    return exitError(
      'exit.no_ip_command',
      'an exit node needs the command `ip`, which is not installed',
      'Install iproute2, or start without --exit-node.',
      error,
    )
  }
  const why = error instanceof Error ? error.message : String(error)
  return exitError(
    'exit.no_policy_routing',
    `the kernel refused a routing rule: ${why}`,
    'An exit node needs root, and policy routing in the kernel (CONFIG_IP_MULTIPLE_TABLES and CONFIG_IPV6_MULTIPLE_TABLES): try `ip rule add pref 5099 lookup main`.',
    error,
  )
}
