import { Link, useParams } from '@tanstack/react-router'
import { useMachines } from '../../data/machines.tsx'
import { usePeerRows } from '../../data/peer-rows.ts'
import { type Machine, machineOf } from '../../model/machine.ts'
import { foundInWords, type PeerRow } from '../../model/peer-row.ts'
import { shownName, shownText } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { EmptyNote, Unread } from '../../parts/notes.tsx'
import { AddressList, type Fact, Facts, PanelSection, SidePanel } from '../../parts/panel.tsx'
import { Flow } from '../../parts/rate.tsx'
import { Age } from '../../parts/time.tsx'
import { PingSection } from '../../ping/ping-section.tsx'
import { usePings } from '../../ping/use-pings.ts'
import page from '../page.module.css'
import { ConnectPeer } from './connect-peer.tsx'
import { ForgetPeer } from './forget-peer.tsx'
import { PeerPath } from './peer-cells.tsx'

/** One peer; its address can be sent as a link. */
export function PeerPanel() {
  const { id } = useParams({ from: '/peers/$id' })
  const read = usePeerRows()
  const row = read.data?.find((known) => known.id === id)
  const title = row?.name ?? 'Unknown peer'
  return (
    <SidePanel
      to="/peers"
      label={title}
      heading={
        <>
          <Glyph id={id} />
          {title}
        </>
      }
    >
      <Unread what="the peer" read={read} />
      {row !== undefined && <PeerFacts key={id} row={row} />}
      {read.data !== undefined && row === undefined && (
        <EmptyNote title="No such peer is known here">
          <p>This node forgot it, or never met it. Its id:</p>
          <p>
            <Copy text={id} what="id" mono wrap />
          </p>
        </EmptyNote>
      )}
    </SidePanel>
  )
}

function PeerFacts({ row }: { row: PeerRow }) {
  const { machines = [] } = useMachines()
  const { id, peer, isMember, isOnline, isStored } = row
  const machine = machineOf(machines, id)
  return (
    <>
      <div>
        <p>
          <PeerPath row={row} />
        </p>
        {peer?.Reach != null && <p className={page.sub}>{shownText(peer.Reach)}</p>}
      </div>
      <PanelSection title="Peer">
        <Facts
          facts={[
            ['Id', <Copy key="id" text={id} what="id" mono wrap />],
            ['Member', isMember ? 'yes' : 'no: it is known to this node, and not in the network'],
            ['Online', isOnline ? 'yes: it is on the topic, or a heartbeat came within ten minutes' : 'no'],
            ['Stored', isStored ? 'yes: its addresses are in the peer store' : 'no'],
            ...(machine === undefined
              ? []
              : ([['Machine', <MachineLink key="machine" machine={machine} />]] as const)),
          ]}
        />
      </PanelSection>
      <ConnectPeer id={id} isConnected={peer?.Connected === true} />
      <PingSection pings={usePings(id, false)} target={id} />
      {peer !== undefined && <ConnectionFacts peer={peer} />}
      <AddressList addresses={peer?.Addresses ?? []} />
      <ForgetPeer row={row} />
    </>
  )
}

function MachineLink({ machine: { id, name } }: { machine: Machine }) {
  return (
    <Link to="/machines/$id" params={{ id }} className={page.link}>
      {name}
    </Link>
  )
}

function ConnectionFacts({ peer }: { peer: NonNullable<PeerRow['peer']> }) {
  const facts: Fact[] = []
  if (peer.FoundBy.length > 0) facts.push(['Found by', foundInWords(peer.FoundBy)])
  if (peer.Transport !== null) facts.push(['Transport', peer.Transport])
  if (peer.LastSeen !== null) facts.push(['Last seen', <Age key="seen" at={Date.parse(peer.LastSeen)} />])
  facts.push(['In', <Flow key="in" rate={peer.RateIn} total={peer.TotalIn} />])
  facts.push(['Out', <Flow key="out" rate={peer.RateOut} total={peer.TotalOut} />])
  if (peer.Agent !== null) facts.push(['Software', shownName(peer.Agent)])
  if (peer.LastError !== null) facts.push(['Last error', shownText(peer.LastError)])
  return (
    <PanelSection title="Connection from this node">
      <Facts facts={facts} />
    </PanelSection>
  )
}
