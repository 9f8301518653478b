import type { Machine } from '../model/machine.ts'
import { roundTripInWords } from '../model/time-words.ts'
import { StateMark } from './state-mark.tsx'
import { Age } from './time.tsx'

/** How a machine is reached, in a word with a shape: `● direct 4 ms`. */
export function ReachMark({ machine: { reach } }: { machine: Pick<Machine, 'reach'> }) {
  switch (reach.kind) {
    case 'self':
      return <StateMark tone="self" word="this node" />
    case 'direct':
    case 'relayed':
      return (
        <StateMark tone={reach.kind} word={reach.kind}>
          {reach.roundTripMs === undefined ? undefined : roundTripInWords(reach.roundTripMs)}
        </StateMark>
      )
    case 'indirect':
      return <StateMark tone="indirect" word="via others" />
    case 'offline':
      return (
        <StateMark tone="offline" word="offline">
          {reach.lastSeen === undefined ? undefined : <Age at={reach.lastSeen} />}
        </StateMark>
      )
  }
}
