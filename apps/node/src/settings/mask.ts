/** How settings are shown to people: secrets never leave the process. */
import { formatDuration, formatSize } from './option.ts'
import { type OptionName, optionOf, type Settings } from './options.ts'

/** Longest piece of a wrong value that is repeated to the person. */
const MAX_SHOWN_CHARACTERS = 80

/** A text as given: secrets masked, the rest shortened. */
export function shownText(name: OptionName, text: string): string {
  if (optionOf(name).secret === true) return maskSecret(text)
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text
}

/** A value in force, as `mesh config` shows it. */
export function shownValue(name: OptionName, value: Settings[OptionName]): string {
  if (typeof value === 'string') return shownText(name, value)
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') {
    const { placeholder } = optionOf(name)
    if (placeholder === 'DURATION') return formatDuration(value)
    return placeholder === 'SIZE' ? formatSize(value) : String(value)
  }
  return value === undefined ? '' : value.join(', ')
}

/** Tells nothing but the length, which is enough to see that a token was cut off. */
function maskSecret(secret: string): string {
  return `*** (${secret.length} characters)`
}
