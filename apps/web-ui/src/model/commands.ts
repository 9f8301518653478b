/** The same action as a person would do it in a terminal: with curl and with the command line of mesh. */
import { stringifyExactJson } from '@mesh/core'
import { shellQuote } from './shell.ts'

export interface Commands {
  readonly curl: string
  readonly mesh: string
}

interface At {
  /** Of the page: `http://127.0.0.1:8080`. */
  readonly origin: string
  readonly bucket: string
  readonly key: string
}

export function getCommands(at: At): Commands {
  return { curl: `curl ${shellQuote(urlOf(at))}`, mesh: meshCommand('get', [], at.bucket, at.key) }
}

export function putCommands(at: At, value: unknown): Commands {
  const text = stringifyExactJson(value)
  // `-` alone would read the value from standard input
  const mesh = typeof value === 'string' && value !== '-' ? [value] : ['--json', text]
  return {
    curl: `curl -X PUT ${shellQuote(urlOf(at))} -H 'Content-Type: application/json' --data-binary ${shellQuote(text)}`,
    mesh: meshCommand('put', mesh, at.bucket, at.key),
  }
}

export function deleteCommands(at: At): Commands {
  return {
    curl: `curl -X DELETE ${shellQuote(urlOf(at))}`,
    mesh: meshCommand('delete', [], at.bucket, at.key),
  }
}

type Verb = 'get' | 'put' | 'delete'

/** `value`: a text, or `--json` and its JSON. A `--` goes before names that look like options. */
function meshCommand(verb: Verb, value: readonly string[], bucket: string, key: string): string {
  const flags = value.slice(0, -1)
  const names = [bucket, key, ...value.slice(-1)]
  const end = names.some((name) => name.startsWith('-')) ? ['--'] : []
  return ['mesh', 'ledger', verb, ...flags, ...end, ...names.map(shellQuote)].join(' ')
}

function urlOf({ origin, bucket, key }: At): string {
  return `${origin}/api/ledger/${encodeURIComponent(bucket)}/${encodeURIComponent(key)}`
}
