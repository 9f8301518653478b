import type { HealthView } from '@mesh/api-contract'
import { Link } from '@tanstack/react-router'
import { useMachines } from '../../data/machines.tsx'
import { useRead } from '../../data/reads.ts'
import { useLinkStatus } from '../../live/live-context.tsx'
import { AddMachineButton } from '../../join/add-machine-button.tsx'
import { AloneNote } from '../../join/alone-note.tsx'
import type { Machine } from '../../model/machine.ts'
import { byAttention } from '../../model/machine.ts'
import { buildSentence } from '../../model/overview.ts'
import { countInWords } from '../../model/rate-words.ts'
import { ErrorNote, LoadingRows } from '../../parts/notes.tsx'
import { words } from '../../words/en.ts'
import page from '../page.module.css'
import { AttentionTable } from './attention-table.tsx'
import { Feed } from './feed-list.tsx'
import { Needs } from './needs.tsx'
import css from './overview.module.css'
import { SummaryFacts } from './summary-facts.tsx'
import { TrafficSection } from './traffic-section.tsx'
import { WaysOut } from './ways-out.tsx'

const HEALTH_EVERY_MS = 15_000
/** The overview shows the machines that matter most; all are one click away. */
const MACHINES_SHOWN = 12

/** Is it well? Who changed what? How much flows? */
export function OverviewPage() {
  const { machines, error, refetch } = useMachines()
  const health = useRead('getHealth', {}, { everyMs: HEALTH_EVERY_MS })
  const link = useLinkStatus()
  return (
    <div className={page.page}>
      {error !== null && <ErrorNote title="This node could not be read" error={error} retry={refetch} />}
      {machines !== undefined && (
        <header className={css.head}>
          <div>
            <Sentence machines={machines} />
            {health.data !== undefined && link.state !== 'lost' && (
              <p className={css.need}>{healthInWords(health.data)}</p>
            )}
          </div>
          {machines.length > 1 && <AddMachineButton />}
        </header>
      )}
      {health.data !== undefined && <Needs health={health.data} on="/" />}
      <div className={css.columns}>
        <div className={css.side}>
          <MachinesSection machines={machines} failed={error !== null} />
          <TrafficSection />
          <WaysOut />
        </div>
        <aside className={css.side}>
          <SummaryFacts />
          <section className={page.section}>
            <h2>
              Changed <span>and refused, the last first</span>
            </h2>
            <Feed machines={machines ?? []} />
          </section>
        </aside>
      </div>
    </div>
  )
}

function Sentence({ machines }: { machines: readonly Machine[] }) {
  return (
    <h1 className={css.sentence}>
      {buildSentence(machines).map(({ text, tone }) =>
        tone === undefined ? (
          text
        ) : (
          <em key={text} className={css[tone]}>
            {text}
          </em>
        ),
      )}
    </h1>
  )
}

function MachinesSection({
  machines,
  failed,
}: {
  machines: readonly Machine[] | undefined
  failed: boolean
}) {
  if (machines === undefined && failed) return <div />
  return (
    <section className={page.section}>
      <h2>
        <Link to="/machines">Machines</Link>
        {machines !== undefined && machines.length > 1 && <span>by what needs attention</span>}
      </h2>
      {machines === undefined ? (
        <LoadingRows label="Reading the machines" />
      ) : (
        <Machines machines={machines} />
      )}
    </section>
  )
}

function Machines({ machines }: { machines: readonly Machine[] }) {
  if (machines.length <= 1) return <AloneNote />
  const shown = machines.toSorted(byAttention).slice(0, MACHINES_SHOWN)
  return (
    <>
      <AttentionTable machines={shown} />
      {machines.length > shown.length && (
        <p className={css.all}>
          <Link to="/machines" className={page.link}>
            All {countInWords(machines.length)} machines
          </Link>
        </p>
      )}
    </>
  )
}

function healthInWords({ Problems }: HealthView): string {
  return Problems.length === 0 ? words.health.ok : words.health.problems(Problems.length)
}
