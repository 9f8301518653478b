import { Link, useSearch } from '@tanstack/react-router'
import { shortPeerId } from '@mesh/core'
import type { Machine } from '../../model/machine.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Rate } from '../../parts/rate.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import { Cell, rowLink } from '../../parts/table.tsx'
import css from './machines.module.css'

/** One machine as a row: two lines on a phone. */
export function MachineCells({ machine }: { machine: Machine }) {
  const { q } = useSearch({ strict: false })
  const { id, name, named, addresses, version, peer } = machine
  const [address] = addresses
  return (
    <>
      <Cell className={css.name}>
        <Glyph id={id} />
        <Link
          to="/machines/$id"
          params={{ id }}
          search={q === undefined ? {} : { q }}
          className={`${rowLink} ${named ? css.named : css.unnamed}`}
        >
          {name}
        </Link>
      </Cell>
      <Cell className={css.address}>
        {address === undefined ? (
          <span className={css.none}>no address</span>
        ) : (
          <Copy text={address} what={`address of ${name}`} mono />
        )}
      </Cell>
      <Cell className={css.path}>
        <ReachMark machine={machine} />
      </Cell>
      <Cell className={css.now} align="end">
        {peer?.Connected === true && <Rate bytesPerSecond={peer.RateIn + peer.RateOut} />}
      </Cell>
      <Cell className={css.version}>{version}</Cell>
      <Cell className={css.id}>
        <Copy text={id} what={`id of ${name}`} mono>
          {shortPeerId(id)}
        </Copy>
      </Cell>
    </>
  )
}
