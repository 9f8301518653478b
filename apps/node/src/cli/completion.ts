/** `mesh completion bash|zsh|fish`: scripts made from the tables of commands and options. */
import { MeshError } from '@mesh/core'
import { flagOf, optionOf } from '../settings/options.ts'
import type { Command, Run } from './command.ts'
import { commands, rootCommand } from './commands.ts'
import { describeCommands } from './help.ts'

const scripts: Readonly<Record<string, () => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript }

export const runCompletion: Run = async ({ positionals, out }) => {
  const [shell = ''] = positionals
  const script = scripts[shell]
  if (script === undefined) {
    throw new MeshError('node.bad_input', `no completion for "${shell}"`, {
      hint: `One of ${Object.keys(scripts).join(', ')}.`,
    })
  }
  out(script())
  return 0
}

/** First words, and for `ledger` its second words. */
function words(): {
  readonly first: readonly string[]
  readonly second: ReadonlyMap<string, readonly string[]>
} {
  const second = new Map<string, string[]>()
  for (const { name } of commands) {
    const [first = '', next] = name.split(' ')
    second.set(first, [...(second.get(first) ?? []), ...(next === undefined ? [] : [next])])
  }
  second.set('completion', Object.keys(scripts))
  return { first: [...second.keys()], second }
}

function flagsOf(command: Command): string[] {
  const names = describeCommands().find((each) => each.command === command)?.names ?? []
  return [...names.map((name) => `--${flagOf(name)}`), '--help']
}

function bashScript(): string {
  const { first, second } = words()
  const cases = commands.map((command) => `    '${command.name}') flags='${flagsOf(command).join(' ')}' ;;`)
  const seconds = [...second].filter(([, next]) => next.length > 0)
  return `# bash completion of mesh: source <(mesh completion bash)
_mesh() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" flags=''
  case "$command" in
    ${seconds.map(([name]) => name).join('|')}) [ "$COMP_CWORD" -gt 2 ] && [ "$command" != completion ] && command="$command \${COMP_WORDS[2]}" ;;
  esac
  case "$previous" in
${choiceCases()}
    ${pathFlags().join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ] && [ "\${current#-}" = "$current" ]; then
    COMPREPLY=($(compgen -W '${first.join(' ')}' -- "$current")); return
  fi
  if [ "$COMP_CWORD" -eq 2 ] && [ "\${current#-}" = "$current" ]; then
    case "$command" in
${seconds.map(([name, next]) => `      ${name}) COMPREPLY=($(compgen -W '${next.join(' ')}' -- "$current")); return ;;`).join('\n')}
    esac
  fi
  case "$command" in
${cases.join('\n')}
    *) flags='${flagsOf(rootCommand).join(' ')} --version' ;;
  esac
  COMPREPLY=($(compgen -W "$flags" -- "$current"))
}
complete -F _mesh mesh
`
}

/** Flags whose value is one of a few words. */
function choiceCases(): string {
  const found = new Map<string, readonly string[]>()
  for (const { names } of describeCommands()) {
    for (const name of names) {
      const { choices, placeholder } = optionOf(name)
      if (placeholder !== undefined && choices.length > 0) found.set(flagOf(name), choices)
    }
  }
  return [...found]
    .map(
      ([flag, choices]) =>
        `    --${flag}) COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current")); return ;;`,
    )
    .join('\n')
}

function pathFlags(): readonly string[] {
  const names = describeCommands().flatMap((each) => each.names)
  const isPath = (placeholder: string | undefined) => placeholder === 'FILE' || placeholder === 'DIR'
  return [
    ...new Set(names.filter((name) => isPath(optionOf(name).placeholder)).map((name) => `--${flagOf(name)}`)),
  ]
}

/** zsh runs bash's completion functions. Taken from $fpath, the file runs as the function at the first Tab. */
function zshScript(): string {
  return `#compdef mesh
autoload -U +X bashcompinit && bashcompinit
${bashScript()}if [[ $funcstack[1] = _mesh ]]; then _bash_complete -F _mesh; fi
`
}

function fishScript(): string {
  const { first, second } = words()
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = ['# fish completion of mesh', 'complete -c mesh -f']
  for (const name of first) {
    const summary = commands.find((command) => command.name === name)?.summary ?? 'read and write the ledger'
    lines.push(`complete -c mesh -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`)
    for (const next of second.get(name) ?? []) {
      const own = commands.find((command) => command.name === `${name} ${next}`)
      lines.push(
        `complete -c mesh -n '__fish_seen_subcommand_from ${name}' -a ${next} -d ${quote(own?.summary ?? next)}`,
      )
    }
  }
  for (const { command, names } of describeCommands()) {
    const seen = command.name
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
    const condition = seen.length === 0 ? '__fish_use_subcommand' : seen.join('; and ')
    for (const name of names) {
      const { placeholder, choices, help, short } = optionOf(name)
      const value =
        placeholder === undefined ? '' : choices.length > 0 ? ` -x -a ${quote(choices.join(' '))}` : ' -r'
      const shortFlag = short === undefined ? '' : ` -s ${short}`
      lines.push(
        `complete -c mesh -n ${quote(condition)} -l ${flagOf(name)}${shortFlag}${value} -d ${quote(help)}`,
      )
    }
  }
  return `${lines.join('\n')}\n`
}
