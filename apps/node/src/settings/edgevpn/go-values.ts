/** Conversions of EdgeVPN's values into the form of this program's options. */

/** Gives the value for an option of ours; undefined: the option's own default holds. */
export type Convert = (text: string) => string | undefined

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/** Reads a switch as Go does; another text is given back, so that its option refuses it. */
export function toSwitch(text: string): string {
  if (TRUE.has(text)) return 'true'
  return FALSE.has(text) ? 'false' : text
}

/** Keeps a whole number within the bounds of an option; 0 stands for no value. */
export function within(least: number, most: number): Convert {
  return (text) => {
    if (!/^\d{1,15}$/.test(text)) return text
    const value = Number(text)
    return value === 0 ? undefined : String(Math.min(Math.max(value, least), most))
  }
}

/** EdgeVPN's levels above `error` silence what a person has to see. */
export function toLogLevel(text: string): string {
  return ['dpanic', 'panic', 'fatal'].includes(text.toLowerCase()) ? 'error' : text.toLowerCase()
}

const MODES: ReadonlyMap<string, string> = new Map([
  ['on', 'enforce'],
  ['log', 'observe'],
  ['log-only', 'observe'],
])

export function toOwnership(text: string): string {
  const mode = text.trim().toLowerCase()
  return MODES.get(mode) ?? mode
}
