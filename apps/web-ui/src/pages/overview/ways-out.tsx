import { Link } from '@tanstack/react-router'
import { useBucket } from '../../data/bucket.ts'
import { useMachines } from '../../data/machines.tsx'
import { nameOf } from '../../model/machine.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import page from '../page.module.css'
import css from './overview.module.css'

/** Members through which requests leave for the Internet, and the command that uses them. */
export function WaysOut() {
  const { machines } = useMachines()
  const { read } = useBucket('egress')
  if (read.data === undefined) return null
  const peers = Object.keys(read.data.values)
  return (
    <section className={page.section}>
      <h2>
        Egress <span>members that lead to the Internet</span>
      </h2>
      {peers.length === 0 ? (
        <p className={page.sub}>
          None. A node that is started with <code>--egress</code> lets members reach the Internet through it.
        </p>
      ) : (
        <>
          <ul className={css.egress}>
            {peers.map((peer) => {
              const machine = machines?.find(({ id }) => id === peer)
              return (
                <li key={peer}>
                  <Glyph id={peer} />
                  <Link to="/machines/$id" params={{ id: peer }}>
                    {nameOf(machines ?? [], peer)}
                  </Link>
                  {machine !== undefined && <ReachMark machine={machine} />}
                </li>
              )
            })}
          </ul>
          <Copy text="mesh proxy" what="command" mono wrap />
        </>
      )}
    </section>
  )
}
