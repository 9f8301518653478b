/**
 * Text that others wrote, safe for a terminal: control characters (which could move the cursor or colour what
 * follows) and characters that reorder text are shown as escapes.
 */
export function printable(text: string): string {
  return text.replaceAll(
    // eslint-disable-next-line no-control-regex
    /[\u0000-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
