/** Says before a node starts what would keep this machine from using an exit, or from being one. Changes nothing. */
import { MeshError } from '@mesh/core'
import type { VpnProblem } from '@mesh/vpn'
import { forwards } from './system/forwards.ts'
import type { ExitSettings } from './exit-settings.ts'
import { findRoutingProblems, noGuard } from './checks/exit-checks.ts'
import { noNftables } from './kernel/exit-forwarding.ts'
import { readFacts } from './exit-host.ts'
import { hasWay, offeredFamilies } from './exit-offer.ts'
import { checkPolicyRouting } from './kernel/exit-routing.ts'
import { machineResolvers } from './system/machine-resolvers.ts'
import { findOfferProblems, SETTINGS } from './checks/offer-checks.ts'
import { runSystem } from './system/system-command.ts'

/** Undefined: the settings ask for no exit. */
export function examineExit(
  settings: Pick<ExitSettings, 'exitNode' | 'advertiseExit' | 'interface'>,
): readonly VpnProblem[] | undefined {
  const { exitNode, advertiseExit, interface: name } = settings
  if (exitNode === undefined && !advertiseExit) return undefined
  return [...(exitNode === undefined ? [] : examineUse(name)), ...(advertiseExit ? examineOffer(name) : [])]
}

function examineUse(name: string): readonly VpnProblem[] {
  return [
    ...refusalOf(checkPolicyRouting),
    ...(refusalOf(listTables).length === 0 ? [] : [noGuard()]),
    ...findRoutingProblems({ ...readFacts(name), isResolvedPast: false, keepsAnswers: true }),
  ]
}

function examineOffer(name: string): readonly VpnProblem[] {
  const families = offeredFamilies(name, forwards)
  return [
    ...refusalOf(listTables),
    ...(['ipv4', 'ipv6'] as const)
      .filter((family) => forwards(family) === false)
      .map((family) => ({
        code: 'vpn.not_forwarding',
        severity: 'warning' as const,
        title: `This machine does not forward ${family.replace('ip', 'IP')}`,
        hint: `Turn it on: \`sysctl -w ${SETTINGS[family]}=1\`, and let the firewall pass it.`,
      })),
    ...findOfferProblems({
      interface: name,
      ruleset: readFacts(name).ruleset,
      hasResolver: machineResolvers().length > 0,
      wayless: families.filter((family) => !hasWay(family)),
    }),
  ]
}

/** @throws MeshError `exit.no_nftables` */
function listTables(): void {
  try {
    runSystem('nft', ['list', 'tables'])
  } catch (error) {
    throw noNftables(error)
  }
}

function refusalOf(check: () => void): VpnProblem[] {
  try {
    check()
    return []
  } catch (error) {
    if (!(error instanceof MeshError)) throw error
    return [{ code: error.code, severity: 'error', title: error.message, hint: error.hint ?? '' }]
  }
}
