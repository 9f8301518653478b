import { useParams } from '@tanstack/react-router'
import { useMachines } from '../../data/machines.tsx'
import type { Machine } from '../../model/machine.ts'
import { bytesInWords } from '../../model/rate-words.ts'
import { roundTripInWords } from '../../model/time-words.ts'
import { shownName, shownText } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { EmptyNote, LoadingRows } from '../../parts/notes.tsx'
import { Facts, PanelSection, SidePanel } from '../../parts/panel.tsx'
import { Rate } from '../../parts/rate.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import { Age } from '../../parts/time.tsx'
import page from '../page.module.css'

type Fact = readonly [term: string, fact: React.ReactNode]

/** One machine; its address can be sent as a link. */
export function MachinePanel() {
  const { id } = useParams({ from: '/machines/$id' })
  const { machines } = useMachines()
  const machine = machines?.find((known) => known.id === id)
  return (
    <SidePanel
      to="/machines"
      label={machine?.name ?? 'Machine'}
      heading={
        <>
          <Glyph id={id} />
          {machine?.name ?? 'Unknown machine'}
        </>
      }
    >
      {machine !== undefined && <MachineFacts machine={machine} />}
      {machine === undefined && machines === undefined && <LoadingRows label="Reading the machine" />}
      {machine === undefined && machines !== undefined && (
        <EmptyNote title="No such machine is known here">
          <p>It may have left the network, or never announced itself. Its id:</p>
          <p>
            <Copy text={id} what="id" mono wrap />
          </p>
        </EmptyNote>
      )}
    </SidePanel>
  )
}

function MachineFacts({ machine }: { machine: Machine }) {
  const { id, addresses, os, arch, version, peer, reach } = machine
  const identity: Fact[] = [['Id', <Copy key="id" text={id} what="id" mono wrap />]]
  for (const address of addresses) {
    identity.unshift(['Address', <Copy key={address} text={address} what="address" mono />])
  }
  if (os !== '') identity.push(['System', shownName([os, arch].filter(Boolean).join(', '))])
  if (version !== '') identity.push(['Version', shownName(version)])
  return (
    <>
      <div>
        <p>
          <ReachMark machine={machine} />
        </p>
        <p className={page.sub}>{REACH_EXPLAINED[reach.kind]}</p>
      </div>
      <PanelSection title="Machine">
        <Facts facts={identity} />
      </PanelSection>
      {peer !== undefined && <ConnectionFacts peer={peer} />}
    </>
  )
}

function ConnectionFacts({ peer }: { peer: NonNullable<Machine['peer']> }) {
  const facts: Fact[] = []
  if (peer.UDP !== null) facts.push(['Packets', <PacketPath key="packets" udp={peer.UDP} />])
  if (peer.Transport !== null) facts.push(['Transport', peer.Transport])
  if (peer.RoundTripMs !== null) facts.push(['Round trip', roundTripInWords(peer.RoundTripMs)])
  if (peer.LastSeen !== null) facts.push(['Last seen', <Age key="seen" at={Date.parse(peer.LastSeen)} />])
  if (peer.Connected) {
    facts.push(['In', <Flow key="in" rate={peer.RateIn} total={peer.TotalIn} />])
    facts.push(['Out', <Flow key="out" rate={peer.RateOut} total={peer.TotalOut} />])
  }
  if (peer.Agent !== null) facts.push(['Software', shownName(peer.Agent)])
  if (peer.LastError !== null) facts.push(['Last error', shownText(peer.LastError)])
  return (
    <>
      <PanelSection title="Connection from this node">
        <Facts facts={facts} />
      </PanelSection>
      {peer.Addresses.length > 0 && (
        <PanelSection title="Known at">
          <ul>
            {peer.Addresses.map((address) => (
              <li key={address}>
                <Copy text={address} what="address" mono wrap />
              </li>
            ))}
          </ul>
        </PanelSection>
      )}
    </>
  )
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

function Flow({ rate, total }: { rate: number; total: number }) {
  return (
    <>
      <Rate bytesPerSecond={rate} />
      <span className={page.sub}>, {bytesInWords(total)} in all</span>
    </>
  )
}

type Udp = NonNullable<NonNullable<Machine['peer']>['UDP']>

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

const REACH_EXPLAINED: Record<Machine['reach']['kind'], string> = {
  self: 'The node that serves this page.',
  direct: 'Packets go straight to it.',
  relayed: 'Another member passes packets on, because no direct way was found yet.',
  indirect: 'It announces itself in the network; this node has no connection to it now.',
  offline: 'Nothing was heard from it lately.',
}
