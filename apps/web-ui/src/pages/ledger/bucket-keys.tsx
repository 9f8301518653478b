import { Link, useSearch } from '@tanstack/react-router'
import { ChevronLeft, Plus } from 'lucide-react'
import { useMemo } from 'react'
import { printable } from '@mesh/core'
import { useBucket } from '../../data/bucket.ts'
import { useTrackedWrites } from '../../data/writes.ts'
import { FilterField } from '../../frame/filter-field.tsx'
import type { TrackedWrite } from '../../model/tracked-write.ts'
import { countInWords } from '../../model/rate-words.ts'
import { shellQuote } from '../../model/commands.ts'
import { printInLine } from '../../model/typed-value.ts'
import { Button, buttonLink } from '../../parts/button.tsx'
import { Command } from '../../parts/copy.tsx'
import { EmptyNote, ErrorNote, Unread } from '../../parts/notes.tsx'
import { Cell, type Column, rowLink } from '../../parts/table.tsx'
import { VirtualRows } from '../../parts/virtual-rows.tsx'
import { WriteMark } from '../../parts/write-mark.tsx'
import page from '../page.module.css'
import { bucketRule } from './bucket-rules.ts'
import { buildKeyRows, filterKeyRows, type KeyRow } from './key-rows.ts'
import css from './ledger.module.css'

const COLUMNS: readonly Column[] = [{ title: 'Key' }, { title: 'Value' }]
const NO_WRITES: readonly TrackedWrite[] = []

interface BucketKeysProps {
  readonly bucket: string | undefined
  readonly filter: string
  readonly openKey: string | undefined
}

/** The keys of one bucket. */
export function BucketKeys({ bucket, filter, openKey }: BucketKeysProps) {
  if (bucket === undefined) return <ChooseBucket />
  return <Keys bucket={bucket} filter={filter} openKey={openKey} />
}

function Keys({ bucket, filter, openKey }: BucketKeysProps & { bucket: string }) {
  const { read, more } = useBucket(bucket)
  const writes = useWritesOf(bucket)
  const rows = useMemo(() => buildKeyRows(read.data?.values ?? {}, writes), [read.data, writes])
  const shown = useMemo(() => filterKeyRows(rows, filter), [rows, filter])
  const known = read.data !== undefined
  const size = Object.keys(read.data?.values ?? {}).length
  const hasMore = read.data?.next !== undefined
  return (
    <>
      <header className={page.head}>
        <Link to="/ledger" className={css.back} aria-label="All buckets">
          <ChevronLeft aria-hidden="true" />
        </Link>
        <h2 className={css.title}>{printable(bucket)}</h2>
        {known && (
          <span className={page.sub}>
            {shown.length === rows.length ? '' : `${countInWords(shown.length)} of `}
            {hasMore && 'the first '}
            {countInWords(size)} {size === 1 ? 'key' : 'keys'}
          </span>
        )}
        <FilterField />
        {hasMore && (
          <Button onClick={() => more.mutate()} disabled={more.isPending}>
            {more.isPending ? 'Reading' : 'Read more keys'}
          </Button>
        )}
        {more.error !== null && (
          <ErrorNote title="Further keys could not be read" error={more.error} retry={() => more.mutate()} />
        )}
        <p className={css.ruleLong}>{bucketRule(bucket).long}</p>
      </header>
      <div className={page.rows}>
        <Unread what={`the bucket ${bucket}`} read={read} />
        {known && shown.length === 0 && <NoKeys bucket={bucket} filtered={rows.length > 0} />}
        {known && shown.length > 0 && (
          <VirtualRows
            label={`Keys of ${printable(bucket)}`}
            columns={COLUMNS}
            rowClass={css.row}
            rows={shown}
            rowKey={(row: KeyRow) => row.key}
            isSelected={(row) => row.key === openKey}
            renderCells={(row) => <KeyCells bucket={bucket} row={row} />}
          />
        )}
      </div>
    </>
  )
}

/** The longest text of a value that is laid out; the panel shows all of it. */
const MAX_SHOWN_CHARS = 300

function KeyCells({ bucket, row }: { bucket: string; row: KeyRow }) {
  const { q } = useSearch({ from: '/ledger' })
  const { key, value, write } = row
  const shown = value ?? (write?.request.action === 'put' ? { value: write.request.value } : undefined)
  return (
    <>
      <Cell className={css.key}>
        <Link to="/ledger" search={{ bucket, key, ...(q !== undefined && { q }) }} className={rowLink}>
          {printable(key)}
        </Link>
      </Cell>
      <Cell className={css.value}>
        <span>{shown !== undefined && printInLine(shown.value).slice(0, MAX_SHOWN_CHARS)}</span>
        {write !== undefined && <WriteMark write={write} brief />}
      </Cell>
    </>
  )
}

function useWritesOf(bucket: string): readonly TrackedWrite[] {
  const writes = useTrackedWrites()
  return useMemo(() => {
    const ours = writes.filter(({ request }) => request.bucket === bucket)
    return ours.length === 0 ? NO_WRITES : ours
  }, [writes, bucket])
}

function ChooseBucket() {
  return (
    <div className={css.choose}>
      <EmptyNote picture="ledger" title="Choose a bucket">
        <p>
          The ledger is what all members of this network agree on: buckets with keys and values, each entry
          signed by who wrote it. Nodes keep their machines, services and names here; any other bucket is
          yours.
        </p>
        <p>
          <Link to="/ledger" search={{ view: 'new' }} className={buttonLink}>
            <Plus aria-hidden="true" />
            Write a key
          </Link>
        </p>
      </EmptyNote>
    </div>
  )
}

function NoKeys({ bucket, filtered }: { bucket: string; filtered: boolean }) {
  if (filtered) {
    return (
      <EmptyNote title="No key fits the filter">
        <p>
          <Link to="/ledger" search={{ bucket }} className={page.link}>
            Show all keys of {printable(bucket)}
          </Link>
        </p>
      </EmptyNote>
    )
  }
  return (
    <EmptyNote picture="ledger" title={`Nothing is in ${printable(bucket)}`}>
      <p>A bucket exists as soon as a key is written into it. From a terminal:</p>
      <p>
        <Command text={`mesh ledger put ${shellQuote(bucket)} hello world`} />
      </p>
      <p>
        <Link to="/ledger" search={{ bucket, view: 'new' }} className={buttonLink}>
          <Plus aria-hidden="true" />
          New key
        </Link>
      </p>
    </EmptyNote>
  )
}
