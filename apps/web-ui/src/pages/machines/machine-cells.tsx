import { Link } from '@tanstack/react-router'
import { shortPeerId } from '@mesh/core'
import type { Machine } from '../../model/machine.ts'
import { countInWords } from '../../model/rate-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Rate } from '../../parts/rate.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import { Cell, rowLink } from '../../parts/table.tsx'
import { Age } from '../../parts/time.tsx'
import css from './machines.module.css'

export interface MachineRow {
  readonly machine: Machine
  /** How many services it offers. */
  readonly services: number
}

/** One machine as a row: two lines on a phone. */
export function MachineCells({ row: { machine, services } }: { row: MachineRow }) {
  const { id, name, named, addresses, version, peer, os, arch } = machine
  const [address] = addresses
  const system = shownName([os, arch].filter(Boolean).join(', '))
  return (
    <>
      <Cell className={css.name}>
        <Glyph id={id} />
        <Link
          to="/machines/$id"
          params={{ id }}
          search
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
      <Cell className={css.more} align="end">
        {services > 0 && countInWords(services)}
      </Cell>
      <Cell className={css.more} title={system}>
        {system}
      </Cell>
      <Cell className={css.more} title={version}>
        {version}
      </Cell>
      <Cell className={css.more}>{peer?.LastSeen != null && <Age at={Date.parse(peer.LastSeen)} />}</Cell>
      <Cell className={css.more}>
        <Copy text={id} what={`id of ${name}`} mono>
          {shortPeerId(id)}
        </Copy>
      </Cell>
    </>
  )
}
