/**
 * One call of `mesh`, from the words to the exit code: 1 which command, 2 its flags, 3 settings from every
 * level, 4 the command itself. An error is printed once, here.
 */
import { findNearest, MeshError } from '@mesh/core'
import { exitCodeOf } from '../errors.ts'
import { type GivenArguments, readArguments } from '../settings/given.ts'
import { loadSettings, type Surroundings } from '../settings/load-settings.ts'
import { calledAs } from './called-as.ts'
import type { Call, Command } from './command.ts'
import { allCommands, commands, findCommand, rootCommand } from './commands.ts'

export interface CommandLineComponents {
  /** Take the command line and the environment of EdgeVPN, as `--edgevpn` asks for, too. */
  readonly isEdgevpn?: boolean
  readonly surroundings: Surroundings
  readonly isTerminal: boolean
  readonly isErrorTerminal: boolean
  out(text: string): void
  note(line: string): void
  draw(text: string): void
  readInput(maxBytes: number): Promise<string>
}

export async function runCommandLine(
  args: readonly string[],
  components: CommandLineComponents,
): Promise<number> {
  try {
    return await dispatch(args, components)
  } catch (error) {
    const { formatError } = await import('./print-error.ts')
    const { commandHintOf } = await import('./command-hint.ts')
    const command = calledAs(components.surroundings.environment)
    const shown = { debug: args.includes('--debug'), command, hint: await commandHintOf(error) }
    components.note(formatError(error, shown))
    return exitCodeOf(error)
  }
}

async function dispatch(words: readonly string[], components: CommandLineComponents): Promise<number> {
  const { args, ignored } = await translate(words, components)
  const { command, rest } = chooseCommand(args)
  const given = readArguments(command.name, rest)
  if (given.help) {
    const { formatHelp, formatShortHelp } = await import('./help.ts')
    const isShort = command === rootCommand && !rest.includes('--all')
    components.out(isShort ? formatShortHelp(allCommands) : formatHelp(command, allCommands))
    return 0
  }
  if (given.version) {
    const { version } = await import('../version.ts')
    components.out(`${version}\n`)
    return 0
  }
  checkArguments(command, given)
  const loaded = loadSettings(command.name, given, components.surroundings)
  const run = await command.load()
  const call: Call = { ...loaded, ...components, command, ignored }
  return run(call)
}

/** Makes our command line of one of EdgeVPN; another one stays as it is. */
async function translate(
  words: readonly string[],
  { isEdgevpn = false, surroundings }: CommandLineComponents,
): Promise<{ readonly args: readonly string[]; readonly ignored: readonly string[] }> {
  if (!isEdgevpn && !words.includes('--edgevpn')) return { args: words, ignored: [] }
  const { translateEdgevpn } = await import('../settings/edgevpn/translate.ts')
  return translateEdgevpn(words, surroundings.environment)
}

function chooseCommand(args: readonly string[]): {
  readonly command: Command
  readonly rest: readonly string[]
} {
  const end = args.findIndex((word) => word.startsWith('-'))
  const words = end === -1 ? args : args.slice(0, end)
  const found = findCommand(words)
  if (found !== undefined) return { command: found.command, rest: args.slice(found.length) }
  const [first, second] = words
  if (first === undefined) return { command: rootCommand, rest: args }
  // `mesh ledger --help` is a question about all of its commands
  const family = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (family.length > 0 && second === undefined && args.some((word) => ['--help', '-h'].includes(word))) {
    return { command: helpCommand(), rest: [first] }
  }
  throw unknownCommand(first, second, family)
}

function helpCommand(): Command {
  const help = commands.find(({ name }) => name === 'help')
  if (help === undefined) throw new Error('the table has no help')
  return help
}

function unknownCommand(first: string, second: string | undefined, family: readonly Command[]): MeshError {
  if (family.length > 0) {
    const names = family.map(({ name }) => name.slice(first.length + 1))
    const nearest = second === undefined ? undefined : findNearest(second, names)
    return new MeshError(
      'node.bad_input',
      second === undefined ? `\`mesh ${first}\` needs a command` : `unknown command: mesh ${first} ${second}`,
      {
        hint:
          nearest === undefined
            ? `One of: ${family.map(({ name }) => `\`mesh ${name}\``).join(', ')}.`
            : `Did you mean \`mesh ${first} ${nearest}\`?`,
      },
    )
  }
  const nearest = findNearest(first, new Set(commands.map(({ name }) => name.split(' ')[0] ?? '')))
  return new MeshError('node.bad_input', `unknown command: mesh ${first}`, {
    hint:
      nearest === undefined ? '`mesh help --all` shows every command.' : `Did you mean \`mesh ${nearest}\`?`,
  })
}

function checkArguments(command: Command, { positionals }: GivenArguments): void {
  const { name, arguments: names = [] } = command
  const required = names.filter((each) => !each.startsWith('['))
  const call = `mesh ${[name, ...names].filter((each) => each !== '').join(' ')}`
  const missing = required[positionals.length]
  if (missing !== undefined) {
    throw new MeshError('node.bad_input', `${missing} is missing`, { hint: `Usage: ${call}` })
  }
  const open = names.at(-1)?.includes('...') === true
  const extra = open ? undefined : positionals[names.length]
  if (extra === undefined) return
  const misplaced = name === '' && commands.some((each) => each.name.split(' ')[0] === extra)
  throw new MeshError('node.bad_input', `unexpected argument "${extra}"`, {
    hint: misplaced ? `Options follow the command: mesh ${extra} ...` : `Usage: ${call} [OPTIONS]`,
  })
}
