/** Makes the pattern that the ledger keeps of the name that a person types. */

/** Letters, digits, `-` and `_` between dots. */
const PLAIN_NAME = /^[\w-]+(?:\.[\w-]+)*\.?$/

/** @returns the pattern that fits this one name; undefined where a pattern was typed */
export function patternOfName(typed: string): string | undefined {
  if (!PLAIN_NAME.test(typed)) return undefined
  return `^${typed.replace(/\.$/, '').replaceAll('.', '\\.')}\\.$`
}
