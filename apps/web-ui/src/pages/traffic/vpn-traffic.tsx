import { DROP_REASONS, type TrafficHistoryView } from '@mesh/api-contract'
import { useMemo } from 'react'
import { countInWords, packetRateInWords } from '../../model/rate-words.ts'
import { sumOf } from '../../model/traffic-history.ts'
import { shownName } from '../../model/shown-name.ts'
import { Chart } from '../../parts/chart.tsx'
import page from '../page.module.css'
import css from './traffic.module.css'

type Vpn = NonNullable<TrafficHistoryView['Vpn']>

interface VpnTrafficProps {
  readonly vpn: Vpn
  readonly times: readonly number[]
  /** The length of a step in seconds. */
  readonly step: number
}

/** Packets of the VPN, and why some were dropped. */
export function VpnTraffic({ vpn, times, step }: VpnTrafficProps) {
  const series = useMemo(
    () => [
      { name: 'in', values: vpn.In },
      { name: 'out', values: vpn.Out },
    ],
    [vpn],
  )
  return (
    <div className={css.pair}>
      <section className={page.section}>
        <h2>VPN packets</h2>
        <Chart
          label="VPN packets of the last hour"
          times={times}
          series={series}
          format={packetRateInWords}
        />
      </section>
      <section className={page.section}>
        <h2>
          Dropped packets <span>since the start</span>
        </h2>
        <Drops drops={vpn.Drops} step={step} />
      </section>
    </div>
  )
}

function Drops({ drops, step }: { drops: Vpn['Drops']; step: number }) {
  const seen = drops.filter(({ Total }) => Total > 0).toSorted((a, b) => b.Total - a.Total)
  if (seen.length === 0) return <p className={page.sub}>This node dropped no packet.</p>
  return (
    <ul className={css.drops}>
      {seen.map(({ Reason, Dropped, Total }) => {
        const known = Object.hasOwn(DROP_REASONS, Reason) ? DROP_REASONS[Reason] : undefined
        return (
          <li key={Reason}>
            <b>{known?.title ?? shownName(Reason)}</b>
            <span className={css.count}>{countInWords(Total)}</span>
            <p>{known?.hint.replaceAll('`', '')}</p>
            <span className={css.hour}>
              {countInWords(Math.round(sumOf(Dropped) * step))} in the last hour
            </span>
          </li>
        )
      })}
    </ul>
  )
}
