import type { CheckView } from '@mesh/api-contract'
import { shownText } from '../../model/shown-name.ts'
import type { StateTone } from '../../model/state-tone.ts'
import { Button } from '../../parts/button.tsx'
import { ErrorNote } from '../../parts/notes.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import page from '../page.module.css'
import css from './diagnostics.module.css'
import type { Examination } from './use-examination.ts'

const VERDICTS: Readonly<Record<CheckView['Verdict'], { readonly tone: StateTone; readonly word: string }>> =
  {
    ok: { tone: 'direct', word: 'good' },
    warn: { tone: 'warning', word: 'warning' },
    fail: { tone: 'refused', word: 'failed' },
    skip: { tone: 'offline', word: 'skipped' },
  }

/** Examines the machine and the node, and says what each check found and what to do. */
export function DoctorSection({ examination }: { examination: Examination }) {
  const { data: checks, error, isPending, mutate } = examination
  return (
    <section className={page.section} aria-label="Examination">
      <div className={css.head}>
        <h2>
          Examination <span>of the machine and the node</span>
        </h2>
        <Button busy={isPending} onClick={() => !isPending && mutate()}>
          {isPending ? 'Examining' : 'Examine this machine'}
        </Button>
      </div>
      {error !== null && <ErrorNote title="The machine could not be examined" error={error} />}
      {checks === undefined ? (
        <p className={page.sub}>
          The node checks the clock, the network, its files and what the VPN needs. That takes a few seconds.
        </p>
      ) : (
        <ul className={css.rows} aria-label="Checks">
          {checks.map((check) => (
            <Check key={check.Name} check={check} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Check({ check: { Name, Verdict, Found, Next } }: { check: CheckView }) {
  return (
    <li className={css.row}>
      <StateMark {...VERDICTS[Verdict]} />
      <b>{shownText(Name)}</b>
      <div>
        <p>{shownText(Found)}</p>
        {Next !== null && <p className={css.next}>{shownText(Next)}</p>}
      </div>
    </li>
  )
}
