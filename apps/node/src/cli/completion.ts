/** `mesh completion bash|zsh|fish`: scripts made from the tables of commands and options. */
import { MeshError } from '@mesh/core'
import { flagOf, type OptionName, optionOf } from '../settings/options.ts'
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
  local current="\${COMP_WORDS[COMP_CWORD]}" at="$COMP_CWORD" command="\${COMP_WORDS[1]}" flags='' lead='' word previous
  # bash splits words at =: put together what is one
  word="$current"
  [ "$current" = '=' ] && current=''
  while [ "$at" -gt 1 ] && { [ "\${COMP_WORDS[at]}" = '=' ] || [ "\${COMP_WORDS[at-1]}" = '=' ]; }; do
    at=$((at-1)); word="\${COMP_WORDS[at]}$word"
  done
  previous="\${COMP_WORDS[at-1]}"
  case "$word" in --*=*) previous="\${word%%=*}"; lead="$previous=" ;; esac
  case "$command" in
    ${seconds.map(([name]) => name).join('|')}) [ "$COMP_CWORD" -gt 2 ] && [ "$command" != completion ] && command="$command \${COMP_WORDS[2]}" ;;
  esac
  case "$previous" in
${valueCases()}
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
# offers the given values for a flag; with -l for the last part of a list with commas
_mesh_values() {
  local head="$lead" value offers=''
  if [ "$1" = -l ]; then
    shift
    value="\${word#"$lead"}"
    case "$value" in *,*) head="$lead\${value%,*}," ;; esac
  fi
  for value in "$@"; do offers="$offers $head$value"; done
  COMPREPLY=($(compgen -W "$offers" -- "$word"))
  # bash takes only what follows the last =
  head="\${word%"$current"}"
  [ -n "$head" ] && COMPREPLY=("\${COMPREPLY[@]#"$head"}")
}
complete -F _mesh mesh
`
}

/** Flags whose value is one of a few words, or put together from them. */
function valueCases(): string {
  const found = new Map<string, string>()
  for (const { names } of describeCommands()) {
    for (const name of names) {
      const { choices, parts = [], placeholder } = optionOf(name)
      if (placeholder !== undefined && choices.length > 0) found.set(flagOf(name), choices.join(' '))
      if (parts.length > 0) found.set(flagOf(name), `-l ${parts.join(' ')}`)
    }
  }
  return [...found].map(([flag, values]) => `    --${flag}) _mesh_values ${values}; return ;;`).join('\n')
}

function pathFlags(): readonly string[] {
  const names = describeCommands().flatMap((each) => each.names)
  const isPath = (placeholder: string | undefined) => placeholder === 'FILE' || placeholder === 'DIR'
  return [
    ...new Set(names.filter((name) => isPath(optionOf(name).placeholder)).map((name) => `--${flagOf(name)}`)),
  ]
}

/**
 * Zsh runs bash's completion functions. Taken from $fpath, the file runs as the function at the first Tab.
 */
function zshScript(): string {
  return `#compdef mesh
autoload -U +X bashcompinit && bashcompinit
${bashScript()}if [[ $funcstack[1] = _mesh ]]; then _bash_complete -F _mesh; fi
`
}

/** Gives what fish offers as the value of a flag. */
function fishValue(name: OptionName): string {
  const { choices, parts = [] } = optionOf(name)
  if (choices.length > 0) return ` -x -a ${quote(choices.join(' '))}`
  return parts.length > 0 ? ` -x -k -a ${quote(`(__fish_append , ${parts.join(' ')})`)}` : ' -r'
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

function fishScript(): string {
  const { first, second } = words()
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
      const { placeholder, help, short } = optionOf(name)
      const value = placeholder === undefined ? '' : fishValue(name)
      const shortFlag = short === undefined ? '' : ` -s ${short}`
      lines.push(
        `complete -c mesh -n ${quote(condition)} -l ${flagOf(name)}${shortFlag}${value} -d ${quote(help)}`,
      )
    }
  }
  return `${lines.join('\n')}\n`
}
