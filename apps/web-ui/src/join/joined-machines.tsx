import { useState } from 'react'
import { useMachines } from '../data/machines.tsx'
import { useRead } from '../data/reads.ts'
import type { Machine } from '../model/machine.ts'
import { roundTripInWords } from '../model/time-words.ts'
import { Glyph } from '../parts/glyph.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import css from './join.module.css'

/** How often a machine that does not answer yet is pinged, in ms. */
const PING_EVERY_MS = 2_000

/** The machines that came online since this was opened, with the first ping of each. */
export function JoinedMachines() {
  const { machines } = useMachines()
  const online = machines?.filter(({ reach }) => reach.kind !== 'offline')
  const [before, setBefore] = useState<ReadonlySet<string>>()
  if (before === undefined && online !== undefined) setBefore(new Set(online.map(({ id }) => id)))
  const joined = before === undefined ? [] : (online ?? []).filter(({ id }) => !before.has(id))
  return (
    <div className={css.joined} role="status">
      {joined.length === 0 ? (
        <StateMark tone="announcing" word="Waiting for a machine…" />
      ) : (
        joined.map((machine) => <Joined key={machine.id} machine={machine} />)
      )}
    </div>
  )
}

function Joined({ machine: { id, name } }: { machine: Machine }) {
  const ping = useRead(
    'pingPeer',
    { peer: id },
    { everyMs: (answer) => (answer === undefined ? PING_EVERY_MS : false) },
  )
  return (
    <p className={css.machine}>
      <Glyph id={id} />
      <b>{name}</b>
      {ping.data === undefined ? (
        <StateMark tone="announcing" word="joined">
          pinging it
        </StateMark>
      ) : (
        <StateMark tone="direct" word="It works">
          {[ping.data.Path, roundTripInWords(ping.data.RoundTripMs)].filter(Boolean).join(', ')}
        </StateMark>
      )}
    </p>
  )
}
