import { cx } from './class-names.ts'
import css from './tag.module.css'

/** A short word on a wash: what became of something. */
export function Tag({
  tone,
  children,
}: {
  tone: 'ledger' | 'broken' | 'relay' | 'plain'
  children: React.ReactNode
}) {
  return <span className={cx(css.tag, css[tone])}>{children}</span>
}
