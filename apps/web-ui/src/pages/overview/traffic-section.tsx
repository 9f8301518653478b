import { Link } from '@tanstack/react-router'
import { useRead } from '../../data/reads.ts'
import { useTrafficHistory } from '../../data/traffic.ts'
import { rateInWords } from '../../model/rate-words.ts'
import { spanInWords } from '../../model/time-words.ts'
import { Rate } from '../../parts/rate.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import page from '../page.module.css'
import css from './overview.module.css'

const TRAFFIC_EVERY_MS = 5_000

/** How much flows now, and did in the last hour; nothing where this node counts no traffic. */
export function TrafficSection() {
  const { data: now } = useRead('getTraffic', {}, { everyMs: TRAFFIC_EVERY_MS })
  const { data: hour } = useTrafficHistory()
  if (now === undefined || hour === undefined) return null
  const values = hour.In.map((bytes, at) => bytes + (hour.Out[at] ?? 0))
  return (
    <section className={page.section}>
      <h2>
        <Link to="/traffic">Traffic</Link>{' '}
        <span className={css.flows}>
          in <Rate bytesPerSecond={now.RateIn} />
        </span>{' '}
        <span className={css.flows}>
          out <Rate bytesPerSecond={now.RateOut} />
        </span>
      </h2>
      {values.length < 2 ? (
        <p className={page.sub}>The line of the last hour begins in a moment.</p>
      ) : (
        <Hour values={values} ms={values.length * hour.StepSeconds * 1_000} />
      )}
    </section>
  )
}

/** A line with its span and its height in words. */
function Hour({ values, ms }: { values: readonly number[]; ms: number }) {
  const { figure, unit } = rateInWords(Math.max(0, ...values))
  return (
    <>
      <Sparkline label="Traffic of the last hour" values={values} isWide />
      <p className={css.span}>
        <span>{spanInWords(ms)} ago</span>
        <span>
          at most {figure} {unit}
        </span>
        <span>now</span>
      </p>
    </>
  )
}
