/** The command line of `npm run attack`, `soak`, `fuzz` and `bench`: what is asked for, or how to ask. */
import { writeSync } from 'node:fs'
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

/**
 * Parses the process's own arguments. With `--help` it prints the usage and ends with 0; with an option that is not known
 * it says so and ends with 2.
 */
export function readToolOptions<T extends ParseArgsOptionsConfig>(usage: string, options: T) {
  const help = { type: 'boolean', default: false } as const
  const read = () => parseArgs({ allowPositionals: true, options: { ...options, help } })
  try {
    const parsed = read()
    if ((parsed.values as { readonly help?: boolean }).help !== true) return parsed
  } catch (error) {
    // of several sentences the first says what is wrong
    endWith(2, `${(error as Error).message.split('. ')[0]}\n${usage}`)
  }
  endWith(0, usage)
}

/** The number that an option says; ends the process with 2 where it is none, or not above `least`. */
export function readNumber(option: string, text: string, least = 0): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < least) {
    endWith(2, `${option} takes a number of at least ${least}, and not ${JSON.stringify(text)}`)
  }
  return value
}

function endWith(code: number, text: string): never {
  // written at once, a pipe's other end included
  writeSync(code === 0 ? 1 : 2, `${text}\n`)
  process.exit(code)
}
