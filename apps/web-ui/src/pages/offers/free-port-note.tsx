import { fixedAddress } from '../../model/offer-words.ts'
import { cx } from '../../parts/class-names.ts'
import css from './offers.module.css'

/** Port 0 is convenient once and a surprise at the next start. @param listen with port 0, or the port that it became */
export function FreePortNote({ listen }: { listen: string }) {
  return (
    <p className={cx(css.note, css.remark)}>
      The port is a free one, and another one after each restart of the node. Give one to keep it:{' '}
      <code>{fixedAddress(listen)}</code>
    </p>
  )
}
