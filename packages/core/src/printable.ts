/**
 * Characters that show nothing or change what shows. These are controls (C0, DEL, C1), line ends, characters that reorder
 * text, and halves of surrogate pairs. Unicode's properties name further invisible ones: joiners, tags, variation
 * selectors, the byte order mark and fillers. Two names could differ by them and look alike.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * The text with each such character as an escape of JSON (`\u202e`; two for those beyond U+FFFF), for terminals and wherever
 * a name tells who or what something is. An emoji that is joined of several is shown in its parts.
 */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, escape)
}

/** Spaces that a table or a page leaves out or that look like others: at the ends, in a row, and all but the common one. */
const UNSEEN_SPACE = /^ +| +$| (?= )|(?! )\p{Zs}/gu

/** A name with the same escapes, and with some for spaces by which it differs unseen from another one. */
export function printableName(name: string): string {
  return printable(name).replaceAll(UNSEEN_SPACE, escape)
}

function escape(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
