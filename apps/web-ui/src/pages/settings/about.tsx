import { useRead } from '../../data/reads.ts'
import { Facts } from '../../parts/panel.tsx'
import page from '../page.module.css'
import css from './settings.module.css'

/** The licence of mesh, as its LICENSE says. */
const LICENCE = 'Apache-2.0'

/** The version of the node, its protocols and the licence. */
export function About() {
  const { data: version } = useRead('getVersion', {})
  const protocols = version?.Protocols ?? []
  return (
    <section className={page.section}>
      <h2>About</h2>
      <Facts
        facts={[
          ['Version', version === undefined ? '…' : `mesh ${version.Version}`],
          ['API', version === undefined ? '…' : `version ${version.Api}`],
          ['Licence', LICENCE],
        ]}
      />
      {protocols.length > 0 && (
        <details className={css.protocols}>
          <summary>{protocols.length} protocols</summary>
          <ul>
            {protocols.map((protocol) => (
              <li key={protocol}>
                <code>{protocol}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}
