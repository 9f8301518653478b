import { Link } from '@tanstack/react-router'
import { type BlockHead, shortHash } from '../../model/kept-blocks.ts'
import { countInWords } from '../../model/rate-words.ts'
import { cx } from '../../parts/class-names.ts'
import { Copy } from '../../parts/copy.tsx'
import { Cell, rowLink } from '../../parts/table.tsx'
import { Age } from '../../parts/time.tsx'
import css from './blockchain.module.css'

interface BlockCellsProps {
  readonly block: BlockHead
  /** It came just now: it slides in. */
  readonly hasArrived: boolean
}

/** One block as a row: two lines on a phone. */
export function BlockCells({ block, hasArrived }: BlockCellsProps) {
  const { Index, Timestamp, Changes, Buckets, Hash, PrevHash } = block
  const buckets = Buckets.join(', ')
  return (
    <>
      <Cell className={cx(css.index, hasArrived && css.arrived)}>
        <Link
          to="/blockchain/$index"
          params={{ index: String(Index) }}
          search
          className={rowLink}
          aria-label={`Block ${countInWords(Index)}`}
        >
          {countInWords(Index)}
        </Link>
      </Cell>
      <Cell className={css.age}>
        <Age at={Date.parse(Timestamp)} />
      </Cell>
      <Cell align="end" className={css.changes}>
        {countInWords(Changes)}
        <span className={css.unit}>{Changes === 1 ? ' change' : ' changes'}</span>
      </Cell>
      <Cell className={css.buckets} title={buckets}>
        {buckets}
      </Cell>
      <Cell className={css.hash}>
        <Copy text={Hash} what={`hash of block ${Index}`} mono>
          {shortHash(Hash)}
        </Copy>
      </Cell>
      <Cell className={css.previous}>
        {Index > 0 && (
          <Link
            to="/blockchain/$index"
            params={{ index: String(Index - 1) }}
            search
            className={css.hashLink}
            aria-label={`Previous block, ${Index - 1}: ${shortHash(PrevHash)}`}
          >
            {shortHash(PrevHash)}
          </Link>
        )}
      </Cell>
    </>
  )
}
