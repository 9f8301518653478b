/** Manual pages (man(7)), made of the tables that `--help` is made of: one for `mesh`, one for each command. */
import { commands, rootCommand } from '../cli/commands.ts'
import type { Command } from '../cli/command.ts'
import { EXIT } from '../errors.ts'
import { flagOf, type OptionName, optionOf, optionsOf, variableOf } from '../settings/options.ts'

/** @param date `2026-11-28`, for the foot of each page  @returns texts by file name, such as `mesh-ledger-get.1` */
export function buildManPages(version: string, date: string): ReadonlyMap<string, string> {
  const pages = [rootCommand, ...commands].map((command) => {
    const title = titleOf(command)
    const head = `.TH ${quote(title.toUpperCase())} 1 ${quote(date)} ${quote(`mesh ${version}`)} ${quote('mesh manual')}`
    return [`${title}.1`, `${[head, ...sectionsOf(command)].join('\n')}\n`] as const
  })
  return new Map(pages)
}

const titleOf = ({ name }: Command) => ['mesh', ...name.split(' ')].filter((word) => word !== '').join('-')

function sectionsOf(command: Command): readonly string[] {
  const isRoot = command.name === ''
  const calls = isRoot
    ? ['mesh [OPTIONS]', 'mesh COMMAND [OPTIONS]', 'mesh -g [-b]']
    : [`${['mesh', command.name, ...(command.arguments ?? [])].join(' ')} [OPTIONS]`]
  return [
    '.SH NAME',
    `${escape(titleOf(command))} \\- ${escape(command.summary)}`,
    '.SH SYNOPSIS',
    calls.map((call) => `.B ${escape(call)}`).join('\n.br\n'),
    ...(command.description === undefined ? [] : ['.SH DESCRIPTION', paragraph(command.description)]),
    ...(isRoot ? ['.SH COMMANDS', ...commands.map(describeCommand)] : []),
    '.SH OPTIONS',
    ...describeOptions(optionsOf(command.name)),
    ...(command.examples === undefined
      ? []
      : ['.SH EXAMPLES', '.nf', ...command.examples.map((line) => paragraph(line)), '.fi']),
    ...(isRoot
      ? ['.SH EXIT STATUS', ...Object.values(EXIT).map(({ code, meaning }) => tagged(String(code), meaning))]
      : []),
    '.SH SEE ALSO',
    isRoot
      ? paragraph('mesh help COMMAND; systemctl(1) for mesh.service and mesh-api.service')
      : '.BR mesh (1)',
  ]
}

function describeCommand(command: Command): string {
  return tagged([command.name, ...(command.arguments ?? [])].join(' '), command.summary)
}

function describeOptions(names: readonly OptionName[]): readonly string[] {
  const grouped = Map.groupBy(names, (name) => optionOf(name).group)
  const general = [tagged('-h, --help', 'Print the help.'), tagged('-v, --version', 'Print the version.')]
  return [
    ...[...grouped].flatMap(([group, members]) => [`.SS ${escape(group)}`, ...members.map(describeOption)]),
    '.SS General',
    ...general,
  ]
}

function describeOption(name: OptionName): string {
  const { short, placeholder, help, defaultText } = optionOf(name)
  const flag = `--${flagOf(name)}${placeholder === undefined ? '' : ` ${placeholder}`}`
  const variable = variableOf(name)
  const remarks = [
    ...(defaultText === '' || defaultText === 'off' ? [] : [`Default: ${defaultText}.`]),
    ...(variable === undefined ? [] : [`Environment: ${variable}.`]),
  ]
  return tagged(short === undefined ? flag : `-${short}, ${flag}`, [help, ...remarks].join(' '))
}

const tagged = (tag: string, text: string) => `.TP\n.B ${escape(tag)}\n${paragraph(text)}`

/** A line that begins with a dot or a quote would be a request. */
const paragraph = (text: string) => escape(text).replace(/^(?=[.'])/gm, String.raw`\&`)

const escape = (text: string) => text.replaceAll('\\', String.raw`\e`).replaceAll('-', String.raw`\-`)

const quote = (text: string) => `"${escape(text)}"`
