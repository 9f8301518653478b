import { Link } from '@tanstack/react-router'
import { useRead } from '../../data/reads.ts'
import { useTrafficHistory } from '../../data/traffic.ts'
import { countInWords, rateInWords } from '../../model/rate-words.ts'
import { Sparkline } from '../../parts/sparkline.tsx'
import css from './overview.module.css'

const TRAFFIC_EVERY_MS = 5_000
const UNKNOWN = '…'

/** The few figures that somebody acts on. */
export function SummaryFacts() {
  const summary = useRead('getSummary', {})
  const digest = useRead('getDigest', {})
  const node = useRead('getNode', {})
  const traffic = useRead('getTraffic', {}, { everyMs: TRAFFIC_EVERY_MS })
  const { data: hour } = useTrafficHistory()
  const count = (value: number | undefined) => (value === undefined ? UNKNOWN : countInWords(value))
  return (
    <div className={css.facts}>
      {traffic.data !== undefined && (
        <p>
          <Flow word="in" bytesPerSecond={traffic.data.RateIn} />
          <Flow word="out" bytesPerSecond={traffic.data.RateOut} />
          {hour !== undefined && (
            <Link to="/traffic">
              <Sparkline
                label="Traffic of the last hour"
                values={hour.In.map((bytes, at) => bytes + (hour.Out[at] ?? 0))}
              />
            </Link>
          )}
        </p>
      )}
      <p>
        <span>
          block <b>{count(summary.data?.BlockChain)}</b>
        </span>
        <Link to="/ledger">
          entries <b>{count(digest.data?.Entries)}</b>
        </Link>
        <span>
          ownership <b>{node.data?.Ownership ?? UNKNOWN}</b>
        </span>
      </p>
      <p>
        <Link to="/services">
          services <b>{count(summary.data?.Services)}</b>
        </Link>
        <Link to="/files">
          files <b>{count(summary.data?.Files)}</b>
        </Link>
        <span>
          peers known <b>{count(summary.data?.Peers)}</b>
        </span>
      </p>
    </div>
  )
}

function Flow({ word, bytesPerSecond }: { word: string; bytesPerSecond: number }) {
  const { figure, unit } = rateInWords(bytesPerSecond)
  return (
    <span>
      {word} <b>{figure}</b> {unit}
    </span>
  )
}
