/** Access rules, as the rest of the node hands them in. */
import { Problem } from '../messages/problem.ts'
import type { RulesPort } from '../ports.ts'
import type { HandlersOf } from './handler.ts'

type RulesRoutes = 'getRules' | 'getRulesSchema' | 'testRules' | 'listWhoReaches' | 'checkRules' | 'putRules'

/** The rules of a node that has none. */
const NO_RULES = { Network: null, Own: null, CanSign: false, Table: [], More: false, Refused: [] }

/** The answer of a node that has no rules. */
function allowed({ from, to }: { readonly from: string; readonly to: string }) {
  return {
    Allowed: true,
    Sentence: `${from} may reach ${to}: there are no access rules`,
    From: { Word: from, Name: from },
    To: { Word: to, Name: to },
  }
}

/** Creates the handlers. Without the port everything is allowed, and nothing can be signed. */
export function createRulesHandlers(rules: RulesPort | undefined): HandlersOf<RulesRoutes> {
  const port = () => {
    if (rules === undefined) throw new Problem('node.not_ready')
    return rules
  }
  return {
    getRules: () => rules?.view() ?? NO_RULES,
    getRulesSchema: async () => await port().schema(),
    testRules: (question) => rules?.test(question) ?? allowed(question),
    listWhoReaches: ({ to }) =>
      rules?.who(to) ?? { To: { Word: to, Name: to }, Everybody: true, Reached: [] },
    checkRules: async ({ body }) => await port().check(body.Text),
    putRules: async ({ body }) => {
      const { Text: text, Force: force = false, Serial: serial } = body
      return await port().set(text, { force, ...(serial !== undefined && { serial }) })
    },
  }
}
