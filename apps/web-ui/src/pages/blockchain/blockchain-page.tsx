import { Link, Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useBlocks } from '../../data/blocks.ts'
import { useRead } from '../../data/reads.ts'
import { type BlockHead, isHeartbeat, type KnownBlocks, nextBefore } from '../../model/kept-blocks.ts'
import { countInWords } from '../../model/rate-words.ts'
import { exactTime } from '../../model/time-words.ts'
import { createWordFilter } from '../../model/word-filter.ts'
import { Button, buttonLink } from '../../parts/button.tsx'
import { EmptyNote, ErrorNote } from '../../parts/notes.tsx'
import { byFigure, type SortableColumn } from '../../parts/use-sort.ts'
import { words } from '../../words/en.ts'
import { PlainList } from '../lists/plain-list.tsx'
import page from '../page.module.css'
import { BlockCells } from './block-cells.tsx'
import css from './blockchain.module.css'

const COLUMNS: readonly SortableColumn<BlockHead>[] = [
  { title: 'Block', compare: byFigure(({ Index }) => Index) },
  { title: 'Age' },
  { title: 'Changes', align: 'end', compare: byFigure(({ Changes }) => Changes) },
  { title: 'Buckets' },
  { title: 'Hash' },
  { title: 'Previous' },
]

const { filter: filterAll } = createWordFilter<BlockHead>({
  states: { heartbeats: isHeartbeat },
  fields: { bucket: ({ Buckets }) => Buckets },
  texts: ({ Index, Hash, PrevHash, Buckets }) => [String(Index), Hash, PrevHash, ...Buckets],
})
const filterWithoutHeartbeats: typeof filterAll = (rows, typed) =>
  filterAll(
    rows.filter((row) => !isHeartbeat(row)),
    typed,
  )

/** The last blocks, the newest first, as they come. */
export function BlockchainPage() {
  const { q = '', heartbeats } = useSearch({ from: '/blockchain' })
  const { index } = useParams({ strict: false })
  const { read, more } = useBlocks()
  const { data: known } = read
  const arrived = useArrived(known)
  return (
    <PlainList
      title={words.sections['/blockchain']}
      what="the blocks"
      columns={COLUMNS}
      rowClass={css.row}
      isLive
      read={{ ...read, data: known?.blocks }}
      filter={q}
      filterRows={heartbeats === 'hidden' ? filterWithoutHeartbeats : filterAll}
      keyOf={(block) => String(block.Index)}
      isSelected={(block) => String(block.Index) === index}
      renderCells={(block) => <BlockCells block={block} hasArrived={block.Index === arrived} />}
      action={
        <div className={css.actions}>
          <HeartbeatSwitch isHidden={heartbeats === 'hidden'} />
          {known !== undefined && nextBefore(known) !== undefined && (
            <Button onClick={() => more.mutate()} busy={more.isPending}>
              Read older blocks
            </Button>
          )}
        </div>
      }
      note={
        <>
          {known !== undefined && <ChainFacts known={known} />}
          <p role="status" className={css.soft}>
            {more.data === 0 && 'This node keeps no older blocks.'}
          </p>
          {more.error !== null && (
            <ErrorNote
              title="Older blocks could not be read"
              error={more.error}
              retry={() => more.mutate()}
            />
          )}
        </>
      }
      empty={
        <EmptyNote picture="blocks" title="No block since this node started">
          <p>A block comes with each change of the ledger. Write a key, and its block appears here.</p>
          <p>
            <Link to="/ledger" search={{ view: 'new' }} className={buttonLink}>
              Write a key
            </Link>
          </p>
        </EmptyNote>
      }
      nothingFits={
        <EmptyNote title="No block fits">
          <p>
            A word is looked for in indexes, hashes and names of buckets; <code>bucket:dns</code> finds blocks
            that changed a bucket.
          </p>
          <p>
            <Link to="/blockchain" className={page.link}>
              Show all blocks
            </Link>
          </p>
        </EmptyNote>
      }
      panel={index !== undefined && <Outlet />}
    />
  )
}

/** The newest block, where it came while the page is open. */
function useArrived(known: KnownBlocks | undefined): number | undefined {
  const [opened, setOpened] = useState<number>()
  if (opened === undefined && known !== undefined) setOpened(known.head)
  if (known === undefined || opened === undefined || known.head === opened) return undefined
  return known.blocks[0]?.Index
}

function HeartbeatSwitch({ isHidden }: { isHidden: boolean }) {
  const navigate = useNavigate()
  return (
    <label className={css.switch}>
      <input
        type="checkbox"
        role="switch"
        checked={isHidden}
        onChange={({ target }) =>
          void navigate({
            from: '/blockchain',
            to: '.',
            search: (kept) => ({ ...kept, heartbeats: target.checked ? ('hidden' as const) : undefined }),
            replace: true,
          })
        }
      />
      Hide heartbeats
    </label>
  )
}

/** The head, and where the chain ends that this node can show. */
function ChainFacts({ known: { head, first, blocks } }: { known: KnownBlocks }) {
  const { data: node } = useRead('getNode', {})
  const kept = head - first + 1
  return (
    <p className={css.facts}>
      The head is block <b>{countInWords(head)}</b>.{' '}
      {blocks.length > 0 && (
        <>
          This node keeps the last {countInWords(kept)} {kept === 1 ? 'block' : 'blocks'} since it started
          {node !== undefined && ` at ${exactTime(Date.parse(node.StartedAt))}`}; the oldest is block{' '}
          {countInWords(first)}.
        </>
      )}
    </p>
  )
}
