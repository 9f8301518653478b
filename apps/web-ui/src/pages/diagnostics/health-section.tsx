import type { CheckView } from '@mesh/api-contract'
import { ClipboardCopy } from 'lucide-react'
import { useState } from 'react'
import { useMachines } from '../../data/machines.tsx'
import { useRead } from '../../data/reads.ts'
import { buildReport } from '../../model/report.ts'
import { Button } from '../../parts/button.tsx'
import { writeClipboard } from '../../parts/copy.tsx'
import { Unread } from '../../parts/notes.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { words } from '../../words/en.ts'
import { Needs } from '../overview/needs.tsx'
import page from '../page.module.css'
import css from './diagnostics.module.css'

const HEALTH_EVERY_MS = 15_000

/** Shows problems with hints, and copies all of it as text for an issue. */
export function HealthSection({ checks }: { checks: readonly CheckView[] | undefined }) {
  const health = useRead('getHealth', {}, { everyMs: HEALTH_EVERY_MS })
  const count = health.data?.Problems.length
  return (
    <section className={page.section} aria-label="Health">
      <div className={css.head}>
        <h2>Health</h2>
        <CopyReport checks={checks} />
      </div>
      <Unread what="the health" read={health} />
      {count === 0 && <StateMark tone="direct" word={words.health.ok} />}
      {health.data !== undefined && <Needs health={health.data} on="/diagnostics" />}
    </section>
  )
}

function CopyReport({ checks }: { checks: readonly CheckView[] | undefined }) {
  const { data: version } = useRead('getVersion', {})
  const { data: health } = useRead('getHealth', {})
  const { data: reachability } = useRead('getReachability', {})
  const { machines = [] } = useMachines()
  const [outcome, setOutcome] = useState<string>()
  const copy = async () => {
    const names = machines.filter(({ named }) => named).map(({ name }) => name)
    const isCopied = await writeClipboard(buildReport({ version, health, checks, reachability, names }))
    setOutcome(isCopied ? 'Copied, without names, ids and outside addresses.' : words.palette.notCopied)
  }
  return (
    <>
      <span className={page.sub} role="status">
        {outcome}
      </span>
      <Button onClick={() => void copy()}>
        <ClipboardCopy aria-hidden="true" />
        Copy report
      </Button>
    </>
  )
}
