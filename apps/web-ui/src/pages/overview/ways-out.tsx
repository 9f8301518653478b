import { Link } from '@tanstack/react-router'
import { useBucket } from '../../data/bucket.ts'
import { useMachines } from '../../data/machines.tsx'
import { machineOf, nameOf } from '../../model/machine.ts'
import { Command } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import { useFewRows } from '../../parts/rows.tsx'
import page from '../page.module.css'
import css from './overview.module.css'

/** The overview shows a few of them; the others are a click away. */
const PEERS_SHOWN = 12

/** Members through which requests leave for the Internet, and the command that uses them. */
export function WaysOut() {
  const { machines } = useMachines()
  const { read } = useBucket('egress')
  const peers = Object.keys(read.data?.values ?? {})
  const { drawn, more } = useFewRows(peers, PEERS_SHOWN)
  if (read.data === undefined) return null
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
            {drawn.map((peer) => {
              const machine = machineOf(machines ?? [], peer)
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
          {more}
          <Command text="mesh proxy" />
        </>
      )}
    </section>
  )
}
