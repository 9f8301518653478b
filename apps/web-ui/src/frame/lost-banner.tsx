import { useLinkStatus } from '../live/live-context.tsx'
import { spanInWords } from '../model/time-words.ts'
import { StateShape } from '../parts/state-mark.tsx'
import { useNow } from '../parts/time.tsx'
import { words } from '../words/en.ts'
import css from './frame.module.css'

/** Says above the page that what stands on it is the past, and how old it is. */
export function LostBanner() {
  const status = useLinkStatus()
  const now = useNow()
  if (status.state !== 'lost' && status.state !== 'refused') return null
  return (
    <p className={css.banner}>
      <StateShape tone="warning" />
      <span>{words.banner[status.state](spanInWords(now - status.since))}</span>
    </p>
  )
}
