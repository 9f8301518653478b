/** Access rules, as the rest of the node hands them in. */
import { Problem } from '../messages/problem.ts'
import type { RulesPort } from '../ports.ts'
import type { HandlersOf } from './handler.ts'

type RulesRoutes = 'getRules' | 'getRulesSchema' | 'testRules' | 'listWhoReaches' | 'checkRules' | 'putRules'

export function createRulesHandlers(rules: RulesPort | undefined): HandlersOf<RulesRoutes> {
  const port = () => {
    if (rules === undefined) throw new Problem('node.not_ready')
    return rules
  }
  return {
    getRules: () => port().view(),
    getRulesSchema: async () => await port().schema(),
    testRules: (question) => port().test(question),
    listWhoReaches: ({ to }) => port().who(to),
    checkRules: async ({ body }) => await port().check(body.Text),
    putRules: async ({ body }) => {
      const { Text: text, Force: force = false, Serial: serial } = body
      return await port().set(text, { force, ...(serial !== undefined && { serial }) })
    },
  }
}
