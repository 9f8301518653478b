import { nodeUrl } from '../../data/node-url.ts'
import { useRead } from '../../data/reads.ts'
import { words } from '../../words/en.ts'
import page from '../page.module.css'
import { ClockSection } from './clock-section.tsx'
import css from './diagnostics.module.css'
import { DiscoverySection } from './discovery-section.tsx'
import { DoctorSection } from './doctor-section.tsx'
import { HealthSection } from './health-section.tsx'
import { LogLevels } from './log-levels.tsx'
import { LogSection } from './log-section.tsx'
import { useExamination } from './use-examination.ts'

/** Shows problems and their causes: health, an examination, discovery, the clock and the log. */
export function DiagnosticsPage() {
  const examination = useExamination()
  return (
    <div className={page.page}>
      <header className={page.head}>
        <h1>{words.sections['/diagnostics']}</h1>
      </header>
      <div className={css.columns}>
        <div className={css.column}>
          <HealthSection checks={examination.data} />
          <DoctorSection examination={examination} />
          <DiscoverySection />
        </div>
        <aside className={css.column}>
          <ClockSection />
          <LogLevels />
          <Profiles />
        </aside>
      </div>
      <LogSection />
    </div>
  )
}

/** Only a node that was started with `--debug` serves profiles. */
function Profiles() {
  const { data: settings } = useRead('listSettings', {})
  if (settings?.find(({ Name }) => Name === 'debug')?.Value !== 'on') return null
  return (
    <section className={page.section}>
      <h2>Profiles</h2>
      <p className={page.sub}>
        <a href={`${nodeUrl}/debug/pprof/`} className={page.link}>
          CPU, memory and pending work of the process
        </a>
      </p>
    </section>
  )
}
