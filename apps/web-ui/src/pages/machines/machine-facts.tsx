import { Link } from '@tanstack/react-router'
import type { Machine } from '../../model/machine.ts'
import { shownName } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { type Fact, Facts, PanelSection } from '../../parts/panel.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import { Age } from '../../parts/time.tsx'
import page from '../page.module.css'

/** Shows what a machine is, and how it is reached. */
export function MachineFacts({ machine }: { machine: Machine }) {
  const { id, addresses, os, arch, version, peer, reach } = machine
  const facts: Fact[] = addresses.map((address) => [
    'Address',
    <Copy key={address} text={address} what="address" mono />,
  ])
  facts.push(['Id', <Copy key="id" text={id} what="id" mono wrap />])
  if (os !== '') facts.push(['System', shownName([os, arch].filter(Boolean).join(', '))])
  if (version !== '') facts.push(['Version', shownName(version)])
  if (peer?.LastSeen != null) facts.push(['Last seen', <Age key="seen" at={Date.parse(peer.LastSeen)} />])
  if (peer !== undefined) {
    facts.push([
      'Peer',
      <Link key="peer" to="/peers/$id" params={{ id }} className={page.link}>
        Its connections
      </Link>,
    ])
  }
  return (
    <>
      <div>
        <p>
          <ReachMark machine={machine} />
        </p>
        <p className={page.sub}>{REACH_EXPLAINED[reach.kind]}</p>
      </div>
      <PanelSection title="Machine">
        <Facts facts={facts} />
      </PanelSection>
    </>
  )
}

const REACH_EXPLAINED: Record<Machine['reach']['kind'], string> = {
  self: 'The node that serves this page.',
  direct: 'Packets go straight to it.',
  relayed: 'Another member passes packets on, because no direct way was found yet.',
  indirect: 'It announces itself in the network; this node has no connection to it now.',
  offline: 'Nothing was heard from it lately.',
}
