import { useRead } from '../../data/reads.ts'
import { offersInWords } from '../../model/rules-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { PanelSection } from '../../parts/panel.tsx'
import { useFewRows } from '../../parts/rows.tsx'
import css from './machine-panel.module.css'

/** Longer lists are shown in part until somebody asks for more. */
const SHOWN = 8

/** Who reaches this machine, and on what, by the access rules of the network. */
export function MachineReached({ id }: { id: string }) {
  const { data } = useRead('listWhoReaches', { to: id })
  const { drawn, more } = useFewRows(data?.Reached ?? [], SHOWN)
  // without a policy everybody does, which is no news of this machine
  if (data === undefined || data.Everybody) return null
  return (
    <PanelSection title="Who reaches it">
      {drawn.length === 0 && <p>Nobody: no rule allows it.</p>}
      <ul className={css.list}>
        {drawn.map(({ From, On }) => (
          <li key={From.Word}>
            {shownName(From.Name)} on {offersInWords(On)}
          </li>
        ))}
      </ul>
      {more}
    </PanelSection>
  )
}
