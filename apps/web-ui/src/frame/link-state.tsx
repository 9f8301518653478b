import { useLinkStatus } from '../live/live-context.tsx'
import { exactTime, spanInWords } from '../model/time-words.ts'
import { cx } from '../parts/class-names.ts'
import { useNow } from '../parts/time.tsx'
import { words } from '../words/en.ts'
import css from './frame.module.css'

/** `live`, or how old what is shown has become. */
export function LinkState() {
  const status = useLinkStatus()
  const now = useNow()
  if (status.state === 'connecting') return <span className={css.link}>{words.link.connecting}</span>
  if (status.state === 'live') {
    return (
      <span className={cx(css.link, css.live)} role="status">
        {words.link.live}
      </span>
    )
  }
  const age = spanInWords(now - status.since)
  const reason = status.error?.message ?? words.link.closed
  return (
    <span
      className={cx(css.link, css.lost)}
      title={`${reason}; what is shown is of ${exactTime(status.since)}`}
    >
      <span role="status">
        {words.link[status.state]}
        <span className={css.wideOnly}>,</span>
      </span>
      <span className={css.wideOnly}>{age} old</span>
      <span className={css.narrowOnly}>{age}</span>
    </span>
  )
}
