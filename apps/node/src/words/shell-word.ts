/** One word of a POSIX shell's command line, quoted only where it needs to be: for commands that people are told to type. */
export function shellWord(word: string): string {
  return /^[\w./~+@%:,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
