import { Link } from '@tanstack/react-router'
import { countInWords } from '../model/rate-words.ts'
import { cx } from './class-names.ts'
import css from './tag.module.css'

/** Names a block and leads to it. */
export function BlockLink({ index }: { index: number }) {
  return (
    <Link
      to="/blockchain/$index"
      params={{ index: String(index) }}
      className={cx(css.tag, css.ledger, css.link)}
    >
      block {countInWords(index)}
    </Link>
  )
}
