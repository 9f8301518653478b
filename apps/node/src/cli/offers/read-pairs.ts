/** Reads the arguments of commands that offer or connect several things at once: a name, its place, and so on by turns. */
import { MeshError } from '@mesh/core'
import type { Parsed } from '../../settings/option.ts'
import { describeIssue } from '../../settings/resolve-settings.ts'
import type { Call } from '../command.ts'

interface PairsInit {
  /** The word for what follows a name: `TARGET`, `LISTEN` or `PATH`. */
  readonly second: string
  /** Parses the pair as `NAME=PLACE`, or says what was expected. */
  readonly parse: (text: string) => Parsed<unknown>
  /** True where flags name some already. */
  readonly isOptional: boolean
}

/** The pairs as flags have them, `NAME=PLACE`. @throws MeshError `node.bad_input` */
export function readPairs(
  { positionals, command }: Pick<Call, 'positionals' | 'command'>,
  { second, parse, isOptional }: PairsInit,
): readonly string[] {
  if (positionals.length === 0 && isOptional) return []
  const last = positionals.at(-1)
  if (last === undefined || positionals.length % 2 === 1) {
    const missing = last === undefined ? 'NAME' : positionals.length === 1 ? second : `${second} of "${last}"`
    throw new MeshError('node.bad_input', `${missing} is missing`, {
      hint: `Usage: mesh ${command.name} NAME ${second} [NAME ${second}]...`,
    })
  }
  return Array.from({ length: positionals.length / 2 }, (_, at) => {
    const [name = '', place = ''] = positionals.slice(2 * at)
    const field = `NAME ${second}`
    // a flag and the settings have the two joined by =, where the first one ends the name
    if (name.includes('=')) throw badValue({ field, value: `${name} ${place}`, expected: 'a NAME without =' })
    const parsed = parse(`${name}=${place}`)
    if ('expected' in parsed) {
      throw badValue({ field, value: `${name} ${place}`, expected: parsed.expected })
    }
    return `${name}=${place}`
  })
}

/** The error of an argument that is not what it has to be. */
export function badValue(issue: Parameters<typeof describeIssue>[0]): MeshError {
  return new MeshError('node.bad_input', describeIssue(issue))
}
