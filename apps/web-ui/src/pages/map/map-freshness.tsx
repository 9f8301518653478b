import type { PathReportView } from '@mesh/api-contract'
import type { Machine } from '../../model/machine.ts'
import { coverageOf } from '../../model/network-map.ts'
import { countInWords } from '../../model/rate-words.ts'
import { spanInWords } from '../../model/time-words.ts'
import { useNow } from '../../parts/time.tsx'
import page from '../page.module.css'

interface MapFreshnessProps {
  readonly machines: readonly Machine[]
  readonly reports: readonly PathReportView[]
  readonly readAt: number
}

/** Says how much of the network is known: `12 machines, paths of 8 of 11 members, the oldest 40 s old`. */
export function MapFreshness({ machines, reports, readAt }: MapFreshnessProps) {
  const now = useNow()
  const self = machines.find(({ reach }) => reach.kind === 'self')?.id ?? ''
  const { told, members, oldestAt, more } = coverageOf(reports, self, readAt)
  const count = `${countInWords(machines.length)} ${machines.length === 1 ? 'machine' : 'machines'}`
  const covered = members === 0 ? '' : `, paths of ${countInWords(told)} of ${countInWords(members)} members`
  const oldest = oldestAt === undefined ? '' : `, the oldest ${spanInWords(now - oldestAt)} old`
  const left = more === 0 ? '' : `; ${countInWords(more)} more paths are not listed`
  return <span className={page.sub}>{`${count}${covered}${oldest}${left}`}</span>
}
