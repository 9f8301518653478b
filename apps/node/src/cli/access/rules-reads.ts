/** Reads access rules: `mesh rules show`, `mesh rules test`, `mesh rules who`. */
import type { RulesView, RulesWhoView } from '@mesh/api-contract'
import { printable } from '@mesh/core'
import { EXIT } from '../../errors.ts'
import { printableJson } from '../../words/printable.ts'
import { asking } from '../asking.ts'
import type { Run } from '../command.ts'
import { findNode } from '../find-node.ts'
import { formatTable } from '../format-table.ts'

export const runRulesShow = asking((client) => client.getRules(), formatRules)

export const runRulesWho = asking(
  (client, { positionals }) => client.listWhoReaches({ to: positionals[0] ?? '' }),
  formatWho,
)

export const runRulesTest: Run = async (call) => {
  const [from = '', to = '', on = ''] = call.positionals
  const view = await (await findNode(call)).testRules({ from, to, on })
  call.out(call.settings.json ? printableJson(view, 2) : `${printable(view.Sentence)}\n`)
  return view.Allowed ? EXIT.ok.code : EXIT.failed.code
}

/** YAML with comments, so that it can be put into a file and given to `mesh rules set`. */
function formatRules({ Network, Own, Refused }: RulesView): string {
  const refused = Refused.slice(0, 10).map(
    ({ From, To, On, Count }) => `# refused: ${From.Name} to ${To.Name} on ${On}, ${Count} times`,
  )
  const network =
    Network === null
      ? ['# The network has no policy: everything is allowed. `mesh rules edit` begins one.']
      : [
          `# Policy ${Network.Serial} of the network, signed by ${Network.Administrator} at ${Network.SignedAt}.`,
          ...Network.Text.trimEnd().split('\n'),
        ]
  const own =
    Own === null
      ? []
      : [
          `# This node's own rules, of ${Own.File}. A flow to this node must pass them too.`,
          ...Own.Text.trimEnd()
            .split('\n')
            .map((line) => `# ${line}`),
        ]
  return [...network, ...own, ...refused].map((line) => `${printable(line)}\n`).join('')
}

function formatWho({ To, Everybody, Reached }: RulesWhoView): string {
  const to = printable(To.Name)
  if (Everybody) return `Everybody reaches ${to} on everything: no policy limits it.\n`
  if (Reached.length === 0) return `Nobody reaches ${to}.\n`
  return formatTable(
    ['FROM', 'ON'],
    Reached.map(({ From, On }) => [From.Name, wordsText(On)]),
  )
}

/** Says the words of `on` to people: `everything` for `*`. */
export function wordsText(words: readonly string[]): string {
  if (words.length === 0) return 'nothing'
  return words.includes('*') ? 'everything' : words.join(' ')
}
