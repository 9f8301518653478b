/**
 * Leads all packets of this machine into the VPN, whose table names the exit. The rules outlive this process, so nothing passes the exit
 * while the node is down. At no moment is a packet without a rule. `undoRouting` removes them.
 */
import { existsSync } from 'node:fs'
import { type ExitRulesInit, exitRules, type Family } from './exit-rules.ts'
import { ownPreferences, readRoutes } from '../system/foreign-rules.ts'
import { EXIT_TABLE } from '../limits.ts'
import { CommandFailure, exitError, lookSystem, runSystem, trySystem } from '../system/system-command.ts'

const FLAGS = { ipv4: '-4', ipv6: '-6' } as const

/** The families that this machine has. */
function ownFamilies(): readonly Family[] {
  return existsSync('/proc/net/if_inet6') ? ['ipv4', 'ipv6'] : ['ipv4']
}

/**
 * Sets the rules that are not there.
 * @returns whether there were such
 * @throws MeshError `exit.no_policy_routing`, `exit.no_ip_command`
 */
export function applyRules(init: ExitRulesInit): boolean {
  try {
    return ownFamilies().filter((family) => applyFamily(family, init)).length > 0
  } catch (error) {
    throw refusalOf(error)
  }
}

/** True when all rules are there. */
export async function hasAllRules(init: ExitRulesInit): Promise<boolean> {
  const found = ownFamilies().map(async (family) => {
    const present = ownPreferences((await lookSystem('ip', [FLAGS[family], 'rule', 'show'])) ?? '')
    return exitRules(family, init).every(({ preference }) => present.includes(preference))
  })
  return !(await Promise.all(found)).includes(false)
}

/** @throws CommandFailure */
function applyFamily(family: Family, init: ExitRulesInit): boolean {
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
  return rules.some(({ preference }) => !present.has(preference))
}

/**
 * Sets the routes into the interface. Removes the route of a family that is not led; the last rule then refuses its packets, and programs
 * use the other family.
 *
 * @returns whether something was changed, and what the kernel said where it refused
 */
export function applyRoutes(
  interfaceName: string,
  led: readonly Family[],
): { readonly changed: boolean; readonly refused?: unknown } {
  let changed = false
  let refused: unknown
  for (const family of ownFamilies()) {
    const flag = FLAGS[family]
    const isThere = isLed(trySystem('ip', [flag, ...SHOWN_ROUTES]), interfaceName)
    if (isThere === led.includes(family)) continue
    const verb = isThere ? 'del' : 'replace'
    try {
      runSystem('ip', [flag, 'route', verb, 'default', 'dev', interfaceName, 'table', String(EXIT_TABLE)])
      changed = true
    } catch (error) {
      refused ??= error
    }
  }
  return { changed, refused }
}

/** True when these families are led into the interface, and no others. */
export async function hasRoutes(interfaceName: string, led: readonly Family[]): Promise<boolean> {
  const found = ownFamilies().map(async (family) => {
    const shown = await lookSystem('ip', [FLAGS[family], ...SHOWN_ROUTES])
    return isLed(shown, interfaceName) === led.includes(family)
  })
  return !(await Promise.all(found)).includes(false)
}

const SHOWN_ROUTES = ['route', 'show', 'table', String(EXIT_TABLE)]

function isLed(shown: string | undefined, interfaceName: string): boolean {
  return shown?.split('\n').some((line) => line.startsWith(`default dev ${interfaceName} `)) === true
}

/** The networks in the kernel's main table, to which the rules lead: those behind a router of the local network too. */
export function mainRoutes(interfaceName: string): readonly string[] {
  const shown = ownFamilies().map((family) =>
    trySystem('ip', [FLAGS[family], 'route', 'show', 'table', 'main']),
  )
  return readRoutes(shown.join('\n'), interfaceName)
}

export function undoRouting(): void {
  for (const family of ownFamilies()) {
    const flag = FLAGS[family]
    const present = ownPreferences(trySystem('ip', [flag, 'rule', 'show']) ?? '')
    for (const preference of present) trySystem('ip', [flag, 'rule', 'del', 'pref', String(preference)])
    trySystem('ip', [flag, 'route', 'flush', 'table', String(EXIT_TABLE)])
  }
}

/** @throws MeshError `exit.no_policy_routing`, `exit.no_ip_command` */
export function checkPolicyRouting(): void {
  try {
    for (const family of ownFamilies()) runSystem('ip', [FLAGS[family], 'rule', 'show'])
  } catch (error) {
    throw refusalOf(error)
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
    'An exit node needs root, and policy routing in the kernel (CONFIG_IP_MULTIPLE_TABLES and CONFIG_IPV6_MULTIPLE_TABLES), and the `ip` of iproute2: try `ip rule add pref 5099 lookup main`.',
    error,
  )
}
