import type { HealthView } from '@mesh/api-contract'
import { StateShape } from '../../parts/state-mark.tsx'
import { Age } from '../../parts/time.tsx'
import { shownText } from '../../model/shown-name.ts'
import css from './overview.module.css'

/** Shows what needs a person: what happened, since when, and what to do. */
export function Needs({ health }: { health: HealthView }) {
  if (health.Problems.length === 0) return null
  return (
    <ul className={css.needs} aria-label="Problems">
      {health.Problems.map(({ Code, Severity, Title, Hint, Since }) => (
        <li key={`${Code} ${Title}`}>
          <StateShape tone={Severity === 'error' ? 'refused' : 'warning'} />
          <div>
            <p className={css.needTitle}>
              <span className={css.hidden}>{Severity}: </span>
              {shownText(Title)}
            </p>
            <p>{shownText(Hint)}</p>
          </div>
          {Since !== null && <Age at={Date.parse(Since)} className={css.since} />}
        </li>
      ))}
    </ul>
  )
}
