import { shellQuote } from './shell.ts'
import type { Commands } from './commands.ts'

/** The record type that is asked for unless another is given. */
export const DEFAULT_TYPE = 'A'

/** @param origin of the page */
export function resolveCommands(origin: string, name: string, type: string): Commands {
  const ofType = type === DEFAULT_TYPE ? [] : ['--type', shellQuote(type)]
  const end = name.startsWith('-') ? ['--'] : []
  const query = type === DEFAULT_TYPE ? '' : `?type=${encodeURIComponent(type)}`
  return {
    mesh: ['mesh', 'dns', 'resolve', ...ofType, ...end, shellQuote(name)].join(' '),
    curl: `curl ${shellQuote(`${origin}/api/dns/resolve/${encodeURIComponent(name)}${query}`)}`,
  }
}
