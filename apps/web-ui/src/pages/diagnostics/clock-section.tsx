import { useRead } from '../../data/reads.ts'
import { roundTripInWords } from '../../model/time-words.ts'
import page from '../page.module.css'

/** How the clock of this machine compares to those of the members. */
export function ClockSection() {
  const { data } = useRead('getReachability', {})
  if (data === undefined) return null
  return (
    <section className={page.section} aria-label="Clock">
      <h2>Clock</h2>
      <p>{clockInWords(data.Clock)}</p>
    </section>
  )
}

function clockInWords(clock: { readonly AheadMs: number; readonly Members: number } | null): string {
  if (clock === null) return 'No member was heard for ten minutes, so there is nothing to compare with.'
  const off = roundTripInWords(Math.abs(clock.AheadMs))
  const members = clock.Members === 1 ? 'one member' : `the median of ${clock.Members} members`
  return `${off} ${clock.AheadMs < 0 ? 'behind' : 'ahead of'} ${members}.`
}
