/** `mesh completion bash|zsh|fish`: scripts made from the tables of commands and options. */
import { MeshError } from '@mesh/core'
import { flagOf, type OptionName, optionOf, optionsOf } from '../settings/options.ts'
import type { Command, Run } from './command.ts'

type Table = readonly Command[]

const scripts: Readonly<Record<string, (table: Table) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** `mesh completion`, of the commands that it is given: `mesh` alone is the first. */
export const completionOf =
  (table: Table): Run =>
  async ({ positionals, out }) => {
    const [shell = ''] = positionals
    const script = scripts[shell]
    if (script === undefined) {
      throw new MeshError('node.bad_input', `no completion for "${shell}"`, {
        hint: `One of ${Object.keys(scripts).join(', ')}.`,
      })
    }
    out(script(table))
    return 0
  }

/** First words, and for `ledger` its second words. */
function words(table: Table): {
  readonly first: readonly string[]
  readonly second: ReadonlyMap<string, readonly string[]>
} {
  const second = new Map<string, string[]>()
  for (const { name } of table.slice(1)) {
    const [first = '', next] = name.split(' ')
    second.set(first, [...(second.get(first) ?? []), ...(next === undefined ? [] : [next])])
  }
  second.set('completion', Object.keys(scripts))
  return { first: [...second.keys()], second }
}

function flagsOf({ name }: Command): string[] {
  return [...optionsOf(name).map((option) => `--${flagOf(option)}`), '--help']
}

function bashScript(table: Table): string {
  const [root, ...commands] = table
  const { first, second } = words(table)
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
${valueCases(table)}
    ${pathFlags(table).join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
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
    *) flags='${root === undefined ? '' : flagsOf(root).join(' ')} --version' ;;
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
function valueCases(table: Table): string {
  const found = new Map<string, string>()
  for (const { name: taker } of table) {
    for (const name of optionsOf(taker)) {
      const { choices, parts = [], placeholder } = optionOf(name)
      if (placeholder !== undefined && choices.length > 0) found.set(flagOf(name), choices.join(' '))
      if (parts.length > 0) found.set(flagOf(name), `-l ${parts.join(' ')}`)
    }
  }
  return [...found].map(([flag, values]) => `    --${flag}) _mesh_values ${values}; return ;;`).join('\n')
}

function pathFlags(table: Table): readonly string[] {
  const names = table.flatMap(({ name }) => optionsOf(name))
  const isPath = (placeholder: string | undefined) => placeholder === 'FILE' || placeholder === 'DIR'
  return [
    ...new Set(names.filter((name) => isPath(optionOf(name).placeholder)).map((name) => `--${flagOf(name)}`)),
  ]
}

/**
 * Zsh runs bash's completion functions. Taken from $fpath, the file runs as the function at the first Tab.
 */
function zshScript(table: Table): string {
  return `#compdef mesh
autoload -U +X bashcompinit && bashcompinit
${bashScript(table)}if [[ $funcstack[1] = _mesh ]]; then _bash_complete -F _mesh; fi
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

function fishScript(table: Table): string {
  const { first, second } = words(table)
  const lines = ['# fish completion of mesh', 'complete -c mesh -f']
  for (const name of first) {
    const summary = table.find((command) => command.name === name)?.summary ?? 'read and write the ledger'
    lines.push(`complete -c mesh -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`)
    for (const next of second.get(name) ?? []) {
      const own = table.find((command) => command.name === `${name} ${next}`)
      lines.push(
        `complete -c mesh -n '__fish_seen_subcommand_from ${name}' -a ${next} -d ${quote(own?.summary ?? next)}`,
      )
    }
  }
  for (const command of table) {
    const seen = command.name
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
    const condition = seen.length === 0 ? '__fish_use_subcommand' : seen.join('; and ')
    for (const name of optionsOf(command.name)) {
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
