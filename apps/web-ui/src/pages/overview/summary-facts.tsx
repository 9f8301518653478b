import { Link } from '@tanstack/react-router'
import { useRead } from '../../data/reads.ts'
import { countInWords } from '../../model/rate-words.ts'
import css from './overview.module.css'

const UNKNOWN = '…'

/** The few figures that somebody acts on. */
export function SummaryFacts() {
  const summary = useRead('getSummary', {})
  const digest = useRead('getDigest', {})
  const node = useRead('getNode', {})
  const count = (value: number | undefined) => (value === undefined ? UNKNOWN : countInWords(value))
  return (
    <div className={css.facts}>
      <p>
        <span>
          block <b>{count(summary.data?.BlockChain)}</b>
        </span>
        <Link to="/ledger">
          entries <b>{count(digest.data?.Entries)}</b>
        </Link>
        <Link to="/peers">
          peers <b>{count(summary.data?.Peers)}</b>
        </Link>
      </p>
      <p>
        <Link to="/services">
          services <b>{count(summary.data?.Services)}</b>
        </Link>
        <Link to="/files">
          files <b>{count(summary.data?.Files)}</b>
        </Link>
        <span>
          ownership <b>{node.data?.Ownership ?? UNKNOWN}</b>
        </span>
      </p>
    </div>
  )
}
