/** The documents under docs/ that are made from tables: `npm --prefix apps/node run write-docs` writes them, a test compares. */
import { commands, rootCommand } from '../cli/commands.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DROP_REASONS } from '@mesh/api-contract'
import { edgevpnDocument } from './edgevpn-document.ts'
import { apiDocument, decisionsDocument, errorsDocument, metricsDocument } from './reference-documents.ts'
import { limitSections } from './limits-document.ts'
import { upstreamDocument } from './upstream-document.ts'
import { policyJsonSchema } from '@mesh/trust/rules'
import { EXIT } from '../errors.ts'
import type { OptionGroup } from '../settings/option.ts'
import { flagOf, type OptionName, optionNames, optionOf, variableOf } from '../settings/options.ts'

/** The texts by their path from the root of the repository. */
export function buildDocuments(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/flags.md', flagsDocument()],
    ['docs/exit-codes.md', exitCodesDocument()],
    ['docs/limits.md', limitsDocument()],
    ['docs/api.md', apiDocument(MADE, table)],
    ['docs/errors.md', errorsDocument(MADE, table)],
    ['docs/adr/README.md', decisionsDocument(root, MADE)],
    ['docs/metrics.md', metricsDocument(root, MADE, table)],
    ['docs/edgevpn.md', edgevpnDocument(MADE, table)],
    ['docs/OPERATION.md', operationDocument()],
    ['packages/trust/policy.schema.json', policySchemaDocument()],
    ['docs/upstream/README.md', upstreamDocument(root, MADE_OF_HEADS, table)],
  ])
}

const root = join(import.meta.dirname, '../../../..')

const MADE =
  '<!-- Made by `npm --prefix apps/node run write-docs` from the tables in apps/node/src; do not edit. -->'

const MADE_OF_HEADS =
  '<!-- Made by `npm --prefix apps/node run write-docs` from the heads of packages/p2p/src/upstream; do not edit. -->'

function flagsDocument(): string {
  const grouped = Map.groupBy(optionNames, (name) => optionOf(name).group)
  const sections = [...grouped].map(([group, names]) => optionSection(group, names))
  const calls = [rootCommand, ...commands].map(({ name, arguments: words = [], summary }) => [
    code(['mesh', name, ...words].filter((word) => word !== '').join(' ')),
    summary,
  ])
  return [
    '# Flags and environment',
    MADE,
    'A flag beats the environment, which beats the file of defaults (lines `flag = value`), which beats what is built in; `mesh config` shows which won. A switch that is on is turned off by `--no-FLAG` or `--FLAG=false`. Lists repeat the flag or use commas. Durations are `500ms`, `30s`, `5m`, `1h30m`; a bare number is seconds. Relative paths count from where you stand. `--token`, `--token-file` and `--config` name a network: one of them on each level, and a higher level replaces a lower one.',
    '## Commands',
    table(['Command', 'What it does'], calls),
    ...sections,
    '## Environment that belongs to no flag',
    table(
      ['Variable', 'Meaning'],
      [
        [
          '`APILISTENUNIXMODE`',
          'Mode of unix sockets made for `--listen` and `--api-listen`, octal; 0660 unless given.',
        ],
        [
          '`LISTEN_PID`, `LISTEN_FDS`',
          'Set by an init system that hands over a listening socket (descriptor 3), which then replaces `--listen` and `--api-listen`.',
        ],
        ['`XDG_STATE_HOME`, `XDG_CONFIG_HOME`', 'Where the state and the file of defaults are looked for.'],
        ['`NODE_DISABLE_COMPILE_CACHE`', 'Start without the cache of compiled code.'],
      ],
    ),
  ]
    .join('\n\n')
    .concat('\n')
}

function optionSection(group: OptionGroup, names: readonly OptionName[]): string {
  const rows = names.map((name) => {
    const { short, placeholder, defaultText, help, commands: takers } = optionOf(name)
    const flag = `--${flagOf(name)}${placeholder === undefined ? '' : ` ${placeholder}`}`
    const variable = variableOf(name)
    return [
      code(short === undefined ? flag : `-${short}, ${flag}`),
      variable === undefined ? '' : code(variable),
      defaultText,
      describeTakers(takers),
      help,
    ]
  })
  return `## ${group}\n\n${table(['Flag', 'Environment', 'Default', 'Commands', 'Meaning'], rows)}`
}

/** The five of the ledger as one word where all of them take an option. */
function describeTakers(takers: readonly string[]): string {
  const family = takers.filter((taker) => taker.startsWith('ledger '))
  const isWhole = family.length === commands.filter(({ name }) => name.startsWith('ledger ')).length
  const shown = isWhole ? [...takers.filter((taker) => !family.includes(taker)), 'ledger ...'] : takers
  return shown.map((taker) => (taker === '' ? '`mesh`' : code(taker))).join(', ')
}

function policySchemaDocument(): string {
  return `${JSON.stringify(policyJsonSchema(), undefined, 2)}\n`
}

function exitCodesDocument(): string {
  const rows = Object.values(EXIT).map(({ code: number, meaning }) => [String(number), meaning])
  return `# Exit codes\n\n${MADE}\n\n${table(['Code', 'Meaning'], rows)}\n`
}

function limitsDocument(): string {
  const names = optionNames.filter((name) => optionOf(name).isLimit === true)
  const rows = names.map((name) => [
    code(`--${flagOf(name)}`),
    code(variableOf(name) ?? ''),
    optionOf(name).defaultText,
    optionOf(name).help,
  ])
  return [
    '# Limits',
    MADE,
    '## Flags',
    table(['Flag', 'Environment', 'Default', 'What it bounds'], rows),
    'The other limits are constants: scopes (places and bytes), rates (tokens a second), backoff and times. [SECURITY.md](SECURITY.md) says how they work together.',
    ...limitSections(root),
  ]
    .join('\n\n')
    .concat('\n')
}

/** docs/OPERATION.md with its table of drop reasons as the code has it. */
function operationDocument(): string {
  const before = readFileSync(join(root, 'docs/OPERATION.md'), 'utf8')
  const rows = Object.entries(DROP_REASONS).map(([name, { direction, title, hint }]) => [
    code(name),
    direction === 'both' ? 'in, out' : direction,
    title,
    hint,
  ])
  const made = table(['Reason', 'Direction', 'What happened', 'What to do'], rows)
  return before.replace(/(?<=<!-- drop reasons[^\n]*-->\n)[^]*?(?=\n<!-- end of drop reasons -->)/, made)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``
}
