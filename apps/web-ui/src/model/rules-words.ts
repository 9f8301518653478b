/** Access rules in words for people, and the help that the JSON Schema of policies holds. */
import type { RulesCheckView, RulesView } from '@mesh/api-contract'
import { countInWords } from './rate-words.ts'
import { shownName } from './shown-name.ts'

type Ends = RulesView['Table'][number]['From']

/** The names that a cell shows; the others are counted. */
const SHOWN_ENDS = 6

/** `laptop-1, nas and 3 more`. */
export function endsInWords(ends: Ends): string {
  const shown = ends.slice(0, SHOWN_ENDS).map(({ Name }) => shownName(Name))
  const more = ends.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${countInWords(more)} more` : shown.join(', ')
}

/** Words of `on`: `everything` for `*`. */
export function offersInWords(words: readonly string[]): string {
  if (words.length === 0) return 'nothing'
  return words.includes('*') ? 'everything' : words.join(', ')
}

/** Says whether a change gives, takes, or both. */
export function changeKind({
  Before,
  After,
}: Pick<RulesCheckView['Changes'][number], 'Before' | 'After'>): 'gains' | 'loses' | 'changes' {
  const has = (words: readonly string[], word: string) => words.includes('*') || words.includes(word)
  const gains = After.some((word) => !has(Before, word))
  const loses = Before.some((word) => !has(After, word))
  if (gains && loses) return 'changes'
  return gains ? 'gains' : 'loses'
}

/** The field of a policy that the place in its text belongs to; undefined where there is none. */
export function fieldAt(text: string, place: number): string | undefined {
  const before = text.slice(0, place)
  const [last] = [...before.matchAll(/\b(default|groups|tags|allow|tests|from|to|on|expect)["']?:/g)].slice(
    -1,
  )
  return last?.[1]
}

interface SchemaNode {
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
}

/** The descriptions of the fields of a policy, by their names, from its JSON Schema. */
export function helpOf(schema: unknown): ReadonlyMap<string, string> {
  const help = new Map<string, string>()
  const read = ({ properties = {}, items }: SchemaNode) => {
    for (const [name, node] of Object.entries(properties)) {
      if (node.description !== undefined && !name.startsWith('$') && !help.has(name))
        help.set(name, node.description)
      read(node)
    }
    if (items !== undefined) read(items)
  }
  read((schema ?? {}) as SchemaNode)
  return help
}
