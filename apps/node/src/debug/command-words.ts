/** The words that this process was started with, as Go's `cmdline` gives them: parted by NUL, secrets masked. */
import { flagOf, optionNames, optionOf } from '../settings/options.ts'

const MASK = '***'
const SECRET_FLAGS: ReadonlySet<string> = new Set(
  optionNames.filter((name) => optionOf(name).secret === true).map((name) => `--${flagOf(name)}`),
)

export function commandWords(argv: readonly string[]): string {
  return argv
    .map((word, at) => {
      if (SECRET_FLAGS.has(argv[at - 1] ?? '')) return MASK
      const [flag = '', ...value] = word.split('=')
      return value.length > 0 && SECRET_FLAGS.has(flag) ? `${flag}=${MASK}` : word
    })
    .join('\0')
}
