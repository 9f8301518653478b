/** Opens the access rules of a node: the network's, which administrators sign, and its own. */
import type { Clock, Logger } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import type { Trust } from '@mesh/trust'
import { type AccessRules, createAccessRules } from '@mesh/trust/rules'
import type { Settings } from '../settings/options.ts'
import { parseStaticPeer, valuesOf } from '../settings/vpn-values.ts'
import type { OwnRules } from './own-rules.ts'

interface OpenRulesInit {
  readonly settings: Settings
  readonly ledger: Ledger
  readonly trust: Trust | undefined
  /** The names that peers gave themselves on connections, by peer id. */
  readonly toldNames: () => ReadonlyMap<string, string>
}

/** The rules of a node and their parts. */
export interface NodeRules {
  readonly rules: AccessRules
  /** The file of `--rules`; undefined without one. */
  readonly own: OwnRules | undefined
  stop(): void
}

/** @throws MeshError `node.bad_rules` */
export async function openRules(
  { settings, ledger, trust, toldNames }: OpenRulesInit,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<NodeRules> {
  const own = settings.rules === undefined ? undefined : await openOwn(settings.rules, { clock, log })
  const staticPeers = valuesOf(settings.staticPeertable, parseStaticPeer)
  const rules = createAccessRules(
    { self: ledger.self, silent: settings.rulesDrop, own: own?.policy, staticPeers },
    { ledger, source: trust?.administration, toldNames, clock, log },
  )
  own?.watch((policy) => rules.setOwn(policy))
  return {
    rules,
    own,
    stop() {
      own?.stop()
      rules.stop()
    },
  }
}

/** Loads the parser where there is something to read. */
async function openOwn(
  file: string,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<OwnRules> {
  const { openOwnRules } = await import('./own-rules.ts')
  return openOwnRules(file, { clock, log: log.child('rules') })
}
