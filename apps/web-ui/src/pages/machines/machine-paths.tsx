import type { PeerView, VpnPingView } from '@mesh/api-contract'
import { useNames } from '../../data/machines.tsx'
import { shownName, shownText } from '../../model/shown-name.ts'
import { roundTripInWords } from '../../model/time-words.ts'
import { Copy } from '../../parts/copy.tsx'
import { type Fact, Facts, PanelSection } from '../../parts/panel.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import css from './machine-panel.module.css'

interface MachinePathsProps {
  readonly peer: PeerView
  /** Shows what the last ping through the VPN told. */
  readonly vpn: VpnPingView | undefined
}

/** The ways to a machine: those that are used, those that were tried, and what went wrong. */
export function MachinePaths({ peer, vpn }: MachinePathsProps) {
  const name = useNames()
  const { UDP, Transport, RoundTripMs, Agent, LastError, Reach, Relay } = peer
  const facts: Fact[] = []
  if (UDP !== null) facts.push(['Packets', <PacketPath key="packets" udp={UDP} />])
  if (Relay !== null) facts.push(['Relayed by', name(Relay)])
  if (Transport !== null) facts.push(['Transport', Transport])
  if (RoundTripMs !== null) facts.push(['Round trip', roundTripInWords(RoundTripMs)])
  if (Reach !== null) facts.push(['Reaching it', shownText(Reach)])
  if (LastError !== null) facts.push(['Last error', shownText(LastError)])
  if (Agent !== null) facts.push(['Software', shownName(Agent)])
  const candidates = vpn?.UDP.Candidates ?? []
  if (facts.length === 0 && candidates.length === 0) return null
  return (
    <PanelSection title="Paths">
      <Facts facts={facts} />
      {candidates.length > 0 && <Candidates candidates={candidates} />}
    </PanelSection>
  )
}

type Candidate = VpnPingView['UDP']['Candidates'][number]

/** The addresses over UDP that the ping tried, and which of them answered. */
function Candidates({ candidates }: { candidates: readonly Candidate[] }) {
  return (
    <ul className={css.candidates} aria-label="Ways over UDP that were tried">
      {candidates.map((candidate) => (
        <li key={candidate.Endpoint}>
          <Copy text={candidate.Endpoint} what="address" mono />
          <CandidateState candidate={candidate} />
          <span className={css.hint}>{KINDS[candidate.Kind]}</span>
        </li>
      ))}
    </ul>
  )
}

function CandidateState({ candidate: { Answered, Heard, RoundTripMs } }: { candidate: Candidate }) {
  if (Answered) {
    return (
      <StateMark tone="direct" word="answered">
        {RoundTripMs === null ? undefined : roundTripInWords(RoundTripMs)}
      </StateMark>
    )
  }
  return <StateMark tone={Heard ? 'warning' : 'offline'} word={Heard ? 'heard, no answer' : 'no answer'} />
}

const KINDS: Record<Candidate['Kind'], string> = {
  own: 'an interface of it',
  mapped: 'a port of its router',
  seen: 'others saw it there',
  heard: 'its probes came from there',
}

/** Says which way the VPN's packets go, or why not over UDP. */
function PacketPath({ udp }: { udp: Udp }) {
  if (udp.Endpoint === null) return <>Through the connection: {NO_UDP[udp.Reason ?? 'searching']}</>
  return (
    <>
      Over UDP to <Copy text={udp.Endpoint} what="address" mono />
      {udp.State === 'suspect' && ', and through the connection too, as probes are lost or will be'}
    </>
  )
}

type Udp = NonNullable<PeerView['UDP']>

const NO_UDP: Record<NonNullable<Udp['Reason']>, string> = {
  off: 'UDP is switched off on this node (--no-udp).',
  unsupported: 'the machine offers no UDP.',
  searching: 'a way over UDP is being looked for.',
  blocked: 'no UDP probe of it arrived here, and ours are not answered; a firewall may block it.',
  'one-way': 'UDP arrives here from it, but not there from here; a firewall blocks one direction.',
  'both-vary': 'both NATs choose another UDP port for each peer, so that neither can be told beforehand.',
  'one-varies':
    'one NAT chooses another UDP port for each peer, and the other lets in only ports that its machine sent to.',
  'same-nat': 'one NAT is before both machines, and keeps their UDP apart.',
  'too-small': 'UDP packets of 1280 bytes do not pass.',
  'too-slow': 'UDP probes are answered, but after more than a second.',
  idle: 'no packets needed UDP for long.',
}
