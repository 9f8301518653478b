import { useParams } from '@tanstack/react-router'
import { useMachines } from '../../data/machines.tsx'
import { useRead } from '../../data/reads.ts'
import type { Machine } from '../../model/machine.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { EmptyNote, Unread } from '../../parts/notes.tsx'
import { AddressList, SidePanel } from '../../parts/panel.tsx'
import { PingSection } from '../../ping/ping-section.tsx'
import { usePings } from '../../ping/use-pings.ts'
import { MachineCommands } from './machine-commands.tsx'
import { MachineFacts } from './machine-facts.tsx'
import { MachineParts } from './machine-parts.tsx'
import { MachinePaths } from './machine-paths.tsx'
import { MachineReached } from './machine-reached.tsx'
import { MachineTraffic } from './machine-traffic.tsx'

/** One machine; its address can be sent as a link. */
export function MachinePanel() {
  const { id } = useParams({ from: '/machines/$id' })
  const { machines, ...read } = useMachines()
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
      {machine !== undefined && <MachineDetails key={id} machine={machine} />}
      <Unread what="the machine" read={{ ...read, data: machines }} />
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

function MachineDetails({ machine }: { machine: Machine }) {
  const { id, addresses, peer, reach } = machine
  const { data: node } = useRead('getNode', {})
  const pings = usePings(id, node?.HasVpn === true && addresses.length > 0)
  const [place = id] = addresses
  const isSelf = reach.kind === 'self'
  return (
    <>
      <MachineFacts machine={machine} />
      {!isSelf && <PingSection pings={pings} target={place} />}
      {addresses.length > 0 && !isSelf && <MachineCommands place={place} />}
      {peer !== undefined && <MachinePaths peer={peer} vpn={pings.vpn} />}
      {peer !== undefined && <MachineTraffic peer={peer} />}
      <MachineReached id={id} />
      <MachineParts machine={machine} />
      <AddressList addresses={peer?.Addresses ?? []} />
    </>
  )
}
