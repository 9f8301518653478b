import type { HealthView } from '@mesh/api-contract'
import { Link } from '@tanstack/react-router'
import { type ProblemAction, problemAction } from '../../model/problem-action.ts'
import { StateShape } from '../../parts/state-mark.tsx'
import { Age } from '../../parts/time.tsx'
import { shownText } from '../../model/shown-name.ts'
import css from './overview.module.css'

interface NeedsProps {
  readonly health: HealthView
  /** The page that shows them: it has no link to itself. */
  readonly on: '/' | '/diagnostics'
}

/** Shows what needs a person: what happened, since when, and what to do, with a link to where that is done. */
export function Needs({ health, on }: NeedsProps) {
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
            <ActionLink action={problemAction(Code)} on={on} />
          </div>
          {Since !== null && (
            <span className={css.since}>
              since <Age at={Date.parse(Since)} />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

function ActionLink({ action: { to, search, word }, on }: { action: ProblemAction; on: NeedsProps['on'] }) {
  if (to === on) return null
  return (
    <Link to={to} search={search ?? {}} className={css.needAction}>
      {word}
    </Link>
  )
}
