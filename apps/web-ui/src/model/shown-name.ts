/** Names that others wrote, as they are shown: a page may not be stretched by them, and no two may look alike unseen. */
import { printable, printableName } from '@mesh/core'

/** The number of characters of a name that are shown; a label of DNS has 63. */
const MAX_SHOWN_CHARS = 100
/** The number of characters of other text that are shown: a browser takes seconds to break tens of thousands into lines. */
const MAX_TEXT_CHARS = 1_000

/** The name with escapes for what is invisible of it, spaces that a page would leave out too; `…` stands for what is cut off. */
export function shownName(name: string): string {
  return cut(name, MAX_SHOWN_CHARS, printableName)
}

/** Text of some lines with escapes for what is invisible of it; `…` stands for what is cut off. */
export function shownText(text: string): string {
  return cut(text, MAX_TEXT_CHARS, (part) => part.replaceAll(/[^\n]+/g, (line) => printable(line)))
}

function cut(text: string, most: number, show: (part: string) => string): string {
  if (text.length <= most) return show(text)
  // half a character at the cut would be shown as an escape
  return `${show(text.slice(0, most).replace(/[\ud800-\udbff]$/, ''))}…`
}
