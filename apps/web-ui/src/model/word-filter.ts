/** Filters that are typed as words: `relayed os:linux cab`. All words must fit, in any case of letters. */

interface FilterWords<Row> {
  /** Words that are states. */
  readonly states: Readonly<Record<string, (row: Row) => boolean>>
  /** Words that begin with `NAME:`; what follows must begin one of the texts. */
  readonly fields: Readonly<Record<string, (row: Row) => string | readonly string[]>>
  /** The texts in which any other word is looked for. */
  readonly texts: (row: Row) => readonly string[]
}

export interface WordFilter<Row> {
  readonly filter: (rows: readonly Row[], typed: string) => readonly Row[]
  /** The words that the filter knows, for people who look at an empty list. */
  readonly words: readonly string[]
}

export function createWordFilter<Row>({ states, fields, texts }: FilterWords<Row>): WordFilter<Row> {
  const parse = (word: string): ((row: Row) => boolean) => {
    const state = Object.hasOwn(states, word) ? states[word] : undefined
    if (state !== undefined) return state
    const [name = '', ...rest] = word.split(':')
    const field = rest.length > 0 && Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field !== undefined) return (row) => [field(row)].flat().some((text) => begins(text, rest.join(':')))
    return (row) => texts(row).some((text) => text.toLowerCase().includes(word))
  }
  return {
    filter(rows, typed) {
      const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
      if (words.length === 0) return rows
      const tests = words.map(parse)
      return rows.filter((row) => tests.every((test) => test(row)))
    },
    words: [...Object.keys(states), ...Object.keys(fields).map((field) => `${field}:`)],
  }
}

function begins(text: string, wanted: string): boolean {
  return text.toLowerCase().startsWith(wanted)
}
