/** What the suite prints: a table for people. */
import { formatTable } from '../../apps/node/src/cli/format-table.ts'
import type { Measured, PassedOver } from './scenario.ts'

export function formatMeasured(all: readonly Measured[], passedOver: readonly PassedOver[]): string {
  const rows = all.map((each) => [
    each.name,
    each.who,
    `${milliseconds(each.ownHealthMs)} (in all ${milliseconds(each.healthMs)}, calm ${milliseconds(each.calmMs)})`,
    `${Math.round(each.grownMb)} MB${each.keptMb === undefined ? '' : `, kept ${Math.round(each.keptMb)} MB`}`,
    `${each.arrived}/${each.writes}, ${milliseconds(each.writeMs)}`,
    verdictOf(each),
    each.outcome,
  ])
  const others = passedOver.map(({ name, who, meaningless }) => {
    return [name, who, '', '', '', `no meaning there: ${meaningless}`, '']
  })
  return formatTable(
    ['attack', 'who', 'health', 'grown', 'writes', 'result', 'what happened'],
    [...rows, ...others],
  )
}

/** What could not be tried was held off by nobody. */
function verdictOf({ broke, carried }: Measured): string {
  if (broke !== undefined) return `BROKE: ${broke}`
  if (carried === 'carried out') return 'held off'
  return carried === 'refused' ? 'refused from the start' : carried.toUpperCase()
}

function milliseconds(ms: number): string {
  return Number.isFinite(ms) ? `${Math.round(ms)} ms` : 'never'
}
