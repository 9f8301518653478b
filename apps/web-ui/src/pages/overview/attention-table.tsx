import { Link } from '@tanstack/react-router'
import type { Machine } from '../../model/machine.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Rate } from '../../parts/rate.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import css from './overview.module.css'

/** A few machines, as a plain table. */
export function AttentionTable({ machines }: { machines: readonly Machine[] }) {
  return (
    <table className={css.table}>
      <thead>
        <tr>
          <th>Name</th>
          <th>Address</th>
          <th>Path</th>
          <th className={css.end}>Now</th>
        </tr>
      </thead>
      <tbody>
        {machines.map((machine) => (
          <AttentionRow key={machine.id} machine={machine} />
        ))}
      </tbody>
    </table>
  )
}

function AttentionRow({ machine }: { machine: Machine }) {
  const { id, name, named, addresses, peer } = machine
  const [address] = addresses
  return (
    <tr>
      <td>
        <Link to="/machines/$id" params={{ id }} className={css.name}>
          <Glyph id={id} />
          <span className={named ? undefined : css.unnamed}>{name}</span>
        </Link>
      </td>
      <td className={css.address}>
        {address === undefined ? (
          <span className={css.none}>no address</span>
        ) : (
          <Copy text={address} what={`address of ${name}`} mono />
        )}
      </td>
      <td>
        <ReachMark machine={machine} />
      </td>
      <td className={css.end}>
        {peer?.Connected === true && <Rate bytesPerSecond={peer.RateIn + peer.RateOut} />}
      </td>
    </tr>
  )
}
