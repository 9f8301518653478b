import { Link } from '@tanstack/react-router'
import { countInWords } from '../../model/rate-words.ts'
import { cx } from '../../parts/class-names.ts'
import css from './filter-words.module.css'

interface FilterWordsProps<Row> {
  /** The list that is filtered. */
  readonly to: '/machines' | '/peers'
  readonly rows: readonly Row[]
  readonly filterRows: (rows: readonly Row[], filter: string) => readonly Row[]
  /** Words of the filter that are states, and how people call them. */
  readonly words: Readonly<Record<string, string>>
  /** The filter as it is typed. */
  readonly filter: string
}

/** How many rows are in each state; each is a filter to click. */
export function FilterWords<Row>({ to, rows, filterRows, words, filter }: FilterWordsProps<Row>) {
  const counted = Object.entries(words).flatMap(([word, title]) => {
    const count = filterRows(rows, word).length
    return count === 0 ? [] : [{ word, title, count }]
  })
  if (counted.length < 2) return null
  return (
    <ul className={css.words} aria-label="Filter by state">
      {counted.map(({ word, title, count }) => (
        <li key={word}>
          <Link
            to={to}
            search={filter === word ? {} : { q: word }}
            aria-current={filter === word}
            className={cx(css.filterWord, filter === word && css.on)}
          >
            {title} <span>{countInWords(count)}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
