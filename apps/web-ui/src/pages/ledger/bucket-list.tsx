import { BUCKETS, printable } from '@mesh/core'
import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useRead } from '../../data/reads.ts'
import { useFeed } from '../../live/live-context.tsx'
import { buttonLink } from '../../parts/button.tsx'
import { cx } from '../../parts/class-names.ts'
import { Unread } from '../../parts/notes.tsx'
import { StateShape } from '../../parts/state-mark.tsx'
import { bucketRule } from './bucket-rules.ts'
import css from './ledger.module.css'

/** The buckets that hold something, each with who may write it. */
export function BucketList({ selected }: { selected: string | undefined }) {
  const digest = useRead('getDigest', {})
  const { view } = useSearch({ from: '/ledger' })
  const refused = useFeed().filter(({ kind }) => kind === 'rejected').length
  const buckets = digest.data && namesOf(Object.keys(digest.data.Buckets), selected)
  return (
    <nav className={css.buckets} aria-label="Buckets">
      <header className={css.bucketHead}>
        <h1>Ledger</h1>
        <Link to="/ledger" search={(search) => newKeySearch(search.bucket)} className={buttonLink}>
          <Plus aria-hidden="true" />
          New key
        </Link>
      </header>
      <Unread what="the buckets" read={digest} />
      <ul>
        {buckets?.map((bucket) => (
          <li key={bucket}>
            <Link
              to="/ledger"
              search={{ bucket }}
              className={cx(css.bucket, bucket === selected && view !== 'refused' && css.on)}
              aria-current={bucket === selected ? 'page' : undefined}
            >
              <span className={css.bucketName}>{printable(bucket)}</span>
              <span className={css.rule}>{bucketRule(bucket).short}</span>
            </Link>
          </li>
        ))}
      </ul>
      {buckets !== undefined && (
        <Link
          to="/ledger"
          search={{ view: 'refused' }}
          className={cx(css.bucket, css.refused, view === 'refused' && css.on)}
        >
          <span className={css.bucketName}>
            <StateShape tone={refused === 0 ? 'offline' : 'refused'} /> refused
          </span>
          <span className={css.rule}>{refused === 0 ? 'none seen' : refused}</span>
        </Link>
      )}
    </nav>
  )
}

/** The digest leaves heartbeats out; they are a bucket like any other to look at. */
function namesOf(written: readonly string[], selected: string | undefined): readonly string[] {
  const names = new Set([...written, BUCKETS.healthcheck])
  if (selected !== undefined) names.add(selected)
  return [...names].toSorted()
}

function newKeySearch(bucket: string | undefined) {
  return { view: 'new' as const, ...(bucket !== undefined && { bucket }) }
}
