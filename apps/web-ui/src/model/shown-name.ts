/** Names that others wrote, as they are shown: a page may not be stretched by them, and no two may look alike unseen. */
import { printable } from '@mesh/core'

/** The number of characters of a name that are shown; a label of DNS has 63. */
const MAX_SHOWN_CHARS = 100
/** Spaces that a page leaves out or that look like others: at the ends, in a row, and all but the common one. */
const UNSEEN_SPACE = /^ +| +$| (?= )|(?! )\p{Zs}/gu

/** The name with escapes for what is invisible of it, spaces that a page would leave out too; `…` stands for what is cut off. */
export function shownName(name: string): string {
  const isLong = name.length > MAX_SHOWN_CHARS
  // half a character at the cut would be shown as an escape
  const shown = isLong ? name.slice(0, MAX_SHOWN_CHARS).replace(/[\ud800-\udbff]$/, '') : name
  const seen = printable(shown).replaceAll(UNSEEN_SPACE, escapeSpaces)
  return isLong ? `${seen}…` : seen
}

function escapeSpaces(spaces: string): string {
  return Array.from(spaces, (space) => `\\u${space.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}
