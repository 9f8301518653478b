/** Reads the recorded runs for the page of measurements: for each figure that is drawn, its values in order. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Run {
  readonly day: string
  readonly commit: string
  readonly figures: Readonly<Record<string, number>>
}

export interface Line {
  readonly name: string
  readonly values: readonly { readonly day: string; readonly commit: string; readonly value: number }[]
}

declare const data: readonly Line[]
export { data }

export default {
  watch: ['../bench/history.jsonl'],
  load(): readonly Line[] {
    const text = readFileSync(join(import.meta.dirname, '../bench/history.jsonl'), 'utf8')
    const runs = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Run)
    const names = [...new Set(runs.flatMap(({ figures }) => Object.keys(figures)))].sort()
    return names.map((name) => ({
      name,
      values: runs.flatMap(({ day, commit, figures }) =>
        figures[name] === undefined ? [] : [{ day, commit, value: figures[name] }],
      ),
    }))
  },
}
