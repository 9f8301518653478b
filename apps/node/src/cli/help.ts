/** `--help`: what a command does, how it is called, and its options by heading. */
import { MeshError } from '@mesh/core'
import { flagOf, type OptionName, optionOf, optionsOf, variableOf } from '../settings/options.ts'
import type { Command, Run } from './command.ts'

const WIDTH = 96
const OPTION_COLUMN = 34

/** The commands that people begin with; docs and the short help agree on these five. */
const FIRST_STEPS: readonly (readonly [call: string, meaning: string])[] = [
  ['mesh -g -b > mesh.token', 'make a network; anyone who has this token is in it: keep it secret'],
  ['sudo mesh --token-file mesh.token', 'join it: this machine gets an address and reaches the others'],
  ['mesh api --token-file mesh.token', 'join it without an interface, with the API and the web page'],
  ['mesh status', 'see what the running node sees: problems first'],
  ['mesh ping MACHINE', 'see how another machine is reached, and how fast'],
]

/** `mesh help`, of the commands that it is given: `mesh` alone is the first. */
export const helpOf =
  (table: readonly Command[]): Run =>
  async ({ positionals, settings, out }) => {
    const found = [2, 1]
      .filter((length) => positionals.length >= length)
      .flatMap((length) => table.find(({ name }) => name === positionals.slice(0, length).join(' ')) ?? [])[0]
    const [first] = positionals
    if (found !== undefined) out(formatHelp(found, table))
    else if (first === undefined)
      out(settings.all ? formatHelp(rootOf(table), table) : formatShortHelp(table))
    else {
      const family = table.filter(({ name }) => name.startsWith(`${first} `))
      if (family.length === 0) {
        throw new MeshError('node.bad_input', `unknown command: mesh ${first}`, {
          hint: '`mesh help --all` shows every command.',
        })
      }
      out(`${formatCommands(family)}\nMore: mesh ${first} COMMAND --help\n`)
    }
    return 0
  }

/** Gives what `mesh help` prints: a screen for somebody who begins. */
export function formatShortHelp(table: readonly Command[]): string {
  const names = [...new Set(table.slice(1).map(({ name }) => name.split(' ')[0] ?? ''))]
  const width = Math.max(...FIRST_STEPS.map(([call]) => call.length))
  return [
    `mesh - ${rootOf(table).summary}\n`,
    'Usage: mesh [OPTIONS]\n       mesh COMMAND [OPTIONS]\n',
    `To begin:\n${FIRST_STEPS.map(([call, meaning]) => `  ${call.padEnd(width)}  ${meaning}\n`).join('')}`,
    `Commands: ${names.join(', ')}\n`,
    'mesh help COMMAND   what a command does, and its options\nmesh help --all     every command and option\n',
  ].join('\n')
}

/** The help of one command, newline at the end; that of `mesh` alone lists the others. */
export function formatHelp(command: Command, table: readonly Command[]): string {
  const isRoot = command.name === ''
  const call = ['mesh', command.name, ...(command.arguments ?? [])].filter((word) => word !== '').join(' ')
  const sections = [
    `mesh${command.name === '' ? '' : ` ${command.name}`} - ${command.summary}\n`,
    isRoot
      ? `Usage: mesh [OPTIONS]\n       mesh COMMAND [OPTIONS]\n       mesh -g [-b]\n`
      : `Usage: ${call} [OPTIONS]\n`,
  ]
  if (command.description !== undefined) sections.push(wrap(command.description, 0))
  if (isRoot) sections.push(`Commands:\n${formatCommands(table.slice(1))}`)
  if (command.examples !== undefined) {
    sections.push(`Examples:\n${command.examples.map((line) => `  ${line}\n`).join('')}`)
  }
  sections.push(...formatOptions(optionsOf(command.name)))
  sections.push(
    'Options with $NAME can come from that environment variable, or as `flag = value` from the file of defaults.\n',
  )
  if (isRoot) sections.push('More: mesh COMMAND --help\n')
  return sections.join('\n')
}

function formatCommands(listed: readonly Command[]): string {
  return listed
    .map(({ name, arguments: names = [], summary }) => {
      const left = `  ${[name, ...names].join(' ')}`
      return column(left, summary)
    })
    .join('')
}

function formatOptions(names: readonly OptionName[]): string[] {
  const groups = new Map<string, string[]>()
  for (const name of names) {
    const { group } = optionOf(name)
    groups.set(group, [...(groups.get(group) ?? []), formatOption(name)])
  }
  const general = column('  -h, --help', 'Print this.') + column('  -v, --version', 'Print the version.')
  return [...groups].map(([group, lines]) => `${group}:\n${lines.join('')}`).concat(`General:\n${general}`)
}

function formatOption(name: OptionName): string {
  const { short, placeholder, help, defaultText, repeated } = optionOf(name)
  const isOn = placeholder === undefined && optionOf(name).default === true
  const flag = `--${isOn ? '[no-]' : ''}${flagOf(name)}${placeholder === undefined ? '' : ` ${placeholder}`}`
  const variable = variableOf(name)
  const remarks = [
    ...(repeated ? ['repeat it or use commas'] : []),
    ...(defaultText === '' || defaultText === 'off' ? [] : [`default: ${defaultText}`]),
    ...(variable === undefined ? [] : [`$${variable}`]),
  ]
  const text = remarks.length === 0 ? help : `${help} (${remarks.join('; ')})`
  return column(`  ${short === undefined ? '    ' : `-${short}, `}${flag}`, text)
}

function column(left: string, right: string): string {
  const wrapped = wrap(right, OPTION_COLUMN)
  return left.length > OPTION_COLUMN - 2
    ? `${left}\n${wrapped}`
    : left.padEnd(OPTION_COLUMN) + wrapped.slice(OPTION_COLUMN)
}

/** Lines of at most WIDTH characters, each indented. */
function wrap(text: string, indent: number): string {
  const lines: string[] = []
  let line = ' '.repeat(indent)
  for (const word of text.split(' ')) {
    if (line.trim() !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = ' '.repeat(indent)
    }
    line += (line.trim() === '' ? '' : ' ') + word
  }
  return [...lines, line].map((each) => `${each}\n`).join('')
}

function rootOf([root]: readonly Command[]): Command {
  if (root === undefined) throw new Error('there are no commands')
  return root
}
