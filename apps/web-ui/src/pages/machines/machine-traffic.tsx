import type { PeerView } from '@mesh/api-contract'
import { Facts, PanelSection } from '../../parts/panel.tsx'
import { Flow } from '../../parts/rate.tsx'

/** Shows what flows between this node and the machine. */
export function MachineTraffic({ peer }: { peer: PeerView }) {
  if (peer.TotalIn + peer.TotalOut === 0) return null
  return (
    <PanelSection title="Traffic with this node">
      <Facts
        facts={[
          ['In', <Flow key="in" rate={peer.RateIn} total={peer.TotalIn} />],
          ['Out', <Flow key="out" rate={peer.RateOut} total={peer.TotalOut} />],
        ]}
      />
    </PanelSection>
  )
}
