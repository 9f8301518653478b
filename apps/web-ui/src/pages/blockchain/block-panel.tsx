import { ApiError } from '@mesh/api-client'
import type { KeptBlockView } from '@mesh/api-contract'
import { BUCKETS, stringifyExactJson } from '@mesh/core'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { useRead } from '../../data/reads.ts'
import { shortHash } from '../../model/kept-blocks.ts'
import { countInWords } from '../../model/rate-words.ts'
import { exactTime } from '../../model/time-words.ts'
import { blockCommand } from '../../model/commands.ts'
import { Command, Copy } from '../../parts/copy.tsx'
import { EmptyNote, Unread } from '../../parts/notes.tsx'
import { Facts, PanelSection, SidePanel } from '../../parts/panel.tsx'
import { useFewRows } from '../../parts/rows.tsx'
import { Age } from '../../parts/time.tsx'
import { BlockChange } from './block-change.tsx'
import css from './blockchain.module.css'

/** Each change is checked and compared where it is shown. */
const CHANGES_SHOWN = 20

/** One block: what it changed, and who signed that. Its address can be sent as a link. */
export function BlockPanel() {
  const { index } = useParams({ from: '/blockchain/$index' })
  const isIndex = /^\d{1,15}$/.test(index)
  const read = useRead('getKeptBlock', { index }, { enabled: isIndex })
  const isUnknown = !isIndex || (read.error instanceof ApiError && read.error.code === 'ledger.no_block')
  return (
    <SidePanel to="/blockchain" label={isIndex ? `Block ${index}` : 'No such block'}>
      {isUnknown ? (
        <NoBlock />
      ) : (
        <>
          <Unread what="the block" read={read} />
          {read.data !== undefined && <BlockFacts key={index} block={read.data} />}
        </>
      )}
    </SidePanel>
  )
}

function NoBlock() {
  return (
    <EmptyNote title="This node does not keep this block">
      <p>
        A node keeps the last blocks since it started. What an older block changed is in the ledger, as far as
        nothing has replaced it.
      </p>
    </EmptyNote>
  )
}

function BlockFacts({ block }: { block: KeptBlockView }) {
  const { Index, Timestamp, Hash, PrevHash, Changes, Changed, More } = block
  const at = Date.parse(Timestamp)
  const { drawn, more } = useFewRows(heartbeatsLast(Changed), CHANGES_SHOWN)
  return (
    <>
      <Facts
        facts={[
          [
            'Made',
            <>
              {exactTime(at)}, <Age at={at} />
            </>,
          ],
          ['Hash', <Copy key="hash" text={Hash} what="hash" mono wrap />],
          [
            'Previous',
            Index === 0 ? 'none: it is the first' : <BlockNeighbour index={Index - 1} hash={PrevHash} />,
          ],
          ['Changes', countInWords(Changes)],
        ]}
      />
      {drawn.map((change) => (
        <BlockChange key={JSON.stringify([change.Bucket, change.Key])} change={change} />
      ))}
      {more}
      {More > 0 && (
        <p className={css.soft}>
          {countInWords(More)} further {More === 1 ? 'change' : 'changes'} of this block are not kept, since
          it had too many.
        </p>
      )}
      <Envelope block={block} />
    </>
  )
}

/** Heartbeats tell the least. */
function heartbeatsLast(changed: KeptBlockView['Changed']): KeptBlockView['Changed'] {
  const isBeat = ({ Bucket }: KeptBlockView['Changed'][number]) => Bucket === BUCKETS.healthcheck
  return [...changed.filter((change) => !isBeat(change)), ...changed.filter(isBeat)]
}

function BlockNeighbour({ index, hash }: { index: number; hash: string }) {
  return (
    <Link to="/blockchain/$index" params={{ index: String(index) }} search className={css.hashLink}>
      block {countInWords(index)} <span>{shortHash(hash)}</span>
    </Link>
  )
}

/** A browser lays out this much of a text at once without a pause; the clipboard gets all of it. */
const MAX_JSON_CHARS = 20_000

/** The block as the node tells it. */
function Envelope({ block }: { block: KeptBlockView }) {
  const [isOpen, setOpen] = useState(false)
  const text = isOpen ? stringifyExactJson(block, 2) : ''
  return (
    <PanelSection title="The whole block">
      <details className={css.details} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>As JSON</summary>
        {isOpen && (
          <>
            <Copy text={text} what="block as JSON">
              copy all
            </Copy>
            <pre className={css.json}>
              {text.slice(0, MAX_JSON_CHARS)}
              {text.length > MAX_JSON_CHARS && '…'}
            </pre>
          </>
        )}
      </details>
      <Command text={blockCommand(nodeUrl, block.Index)} />
    </PanelSection>
  )
}
