import { Activity, Square } from 'lucide-react'
import { nodeUrl } from '../data/node-url.ts'
import { pingCommands } from '../model/commands.ts'
import { shownText } from '../model/shown-name.ts'
import { roundTripInWords } from '../model/time-words.ts'
import { Button } from '../parts/button.tsx'
import { CommandList } from '../parts/command-list.tsx'
import { PanelSection } from '../parts/panel.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { PingLine } from './ping-line.tsx'
import css from './ping.module.css'
import type { Pings } from './use-pings.ts'

interface PingSectionProps {
  readonly pings: Pings
  /** The peer as its commands name it. */
  readonly target: string
}

/** A ping each second while it is on, as a line, with what was lost. */
export function PingSection({ pings: { isOn, toggle, ...measured }, target }: PingSectionProps) {
  const { pings, sent, error } = measured
  return (
    <PanelSection title="Ping">
      <div className={css.head}>
        <Button onClick={toggle} aria-pressed={isOn}>
          {isOn ? <Square aria-hidden="true" /> : <Activity aria-hidden="true" />}
          {isOn ? 'Stop' : 'Ping'}
        </Button>
        {isOn && sent === 0 && <StateMark tone="announcing" word="pinging" />}
        {sent > 0 && <LastPing {...measured} />}
      </div>
      {sent > 0 && (
        <>
          <PingLine pings={pings} label={summaryOf(measured)} />
          <p className={css.summary}>{summaryOf(measured)}</p>
        </>
      )}
      {error !== undefined && <p className={css.error}>{shownText(error.message)}</p>}
      <CommandList
        title="The same from a terminal"
        commands={pingCommands({ origin: nodeUrl, peer: target })}
      />
    </PanelSection>
  )
}

type Measured = Omit<Pings, 'isOn' | 'toggle'>

function LastPing({ pings, path, vpn }: Measured) {
  const last = pings.at(-1)?.roundTripMs
  if (last === undefined || path === undefined) return <StateMark tone="refused" word="no answer" />
  const isUdp = vpn !== undefined && vpn.UDP.Endpoint !== null
  return (
    <StateMark tone={path} word={isUdp ? 'direct over UDP' : path}>
      {roundTripInWords(last)}
    </StateMark>
  )
}

/** Sums pings up: `3.9 ms to 6 ms; 12 sent, 1 lost (8 %)`. */
function summaryOf({ pings, sent, lost }: Measured): string {
  const times = pings.flatMap(({ roundTripMs }) => roundTripMs ?? [])
  const range =
    times.length === 0
      ? ''
      : `${roundTripInWords(Math.min(...times))} to ${roundTripInWords(Math.max(...times))}; `
  const share = lost === 0 ? 'none lost' : `${lost} lost (${Math.round((lost / sent) * 100)} %)`
  return `${range}${sent} sent, ${share}`
}
