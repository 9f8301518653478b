import { Link } from '@tanstack/react-router'
import { useNames } from '../../data/machines.tsx'
import { foundInWords, listsInWords, type PeerRow } from '../../model/peer-row.ts'
import { bytesInWords } from '../../model/rate-words.ts'
import { shownText } from '../../model/shown-name.ts'
import { cx } from '../../parts/class-names.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { Rate } from '../../parts/rate.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import { Cell, rowLink } from '../../parts/table.tsx'
import { Age } from '../../parts/time.tsx'
import css from './peers.module.css'

/** One peer as a row: two lines on a phone. */
export function PeerCells({ row }: { row: PeerRow }) {
  const { id, name, named, peer } = row
  const lists = listsInWords(row)
  const found = foundInWords(peer?.FoundBy ?? [])
  const reaching = shownText(peer?.LastError ?? peer?.Reach ?? '')
  const total = peer === undefined ? 0 : peer.TotalIn + peer.TotalOut
  return (
    <>
      <Cell className={css.name}>
        <Glyph id={id} />
        <Link to="/peers/$id" params={{ id }} search className={cx(rowLink, named ? css.named : css.unnamed)}>
          {name}
        </Link>
      </Cell>
      <Cell className={css.path}>
        <PeerPath row={row} />
      </Cell>
      <Cell className={css.lists} title={lists}>
        {lists}
      </Cell>
      <Cell className={css.soft} title={found}>
        {found}
      </Cell>
      <Cell className={css.soft}>{peer?.Transport ?? ''}</Cell>
      <Cell className={css.now} align="end">
        {peer?.Connected === true && <Rate bytesPerSecond={peer.RateIn + peer.RateOut} />}
      </Cell>
      <Cell className={css.soft} align="end">
        {total > 0 && bytesInWords(total)}
      </Cell>
      <Cell className={css.soft}>{peer?.LastSeen != null && <Age at={Date.parse(peer.LastSeen)} />}</Cell>
      <Cell className={peer?.LastError == null ? css.soft : css.error} title={reaching}>
        {reaching}
      </Cell>
    </>
  )
}

/** How a peer is reached, and by which relay. */
export function PeerPath({ row }: { row: PeerRow }) {
  const name = useNames()
  return (
    <>
      <ReachMark machine={row} />
      {row.relay !== undefined && <span className={css.by}> by {name(row.relay)}</span>}
    </>
  )
}
