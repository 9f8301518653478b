import { Link, useSearch } from '@tanstack/react-router'
import { printable } from '@mesh/core'
import { printInLine } from '../../model/typed-value.ts'
import { Cell, rowLink } from '../../parts/virtual-rows.tsx'
import { WriteMark } from '../../parts/write-mark.tsx'
import type { KeyRow } from './key-rows.ts'
import css from './ledger.module.css'

/** The longest text of a value that is laid out; the panel shows all of it. */
const MAX_SHOWN_CHARS = 300

export function KeyCells({ bucket, row }: { bucket: string; row: KeyRow }) {
  const { q } = useSearch({ from: '/ledger' })
  const { key, value, write } = row
  const shown = value ?? (write?.request.action === 'put' ? { value: write.request.value } : undefined)
  return (
    <>
      <Cell className={css.key}>
        <Link to="/ledger" search={{ bucket, key, ...(q !== undefined && { q }) }} className={rowLink}>
          {printable(key)}
        </Link>
      </Cell>
      <Cell className={css.value}>
        <span>{shown !== undefined && printInLine(shown.value).slice(0, MAX_SHOWN_CHARS)}</span>
        {write !== undefined && <WriteMark write={write} brief />}
      </Cell>
    </>
  )
}
