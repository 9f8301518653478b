import type { PeerView } from '@mesh/api-contract'
import { useTrafficHistory } from '../../data/traffic.ts'
import { Facts, PanelSection } from '../../parts/panel.tsx'
import { Flow } from '../../parts/rate.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'

/** Shows what flows between this node and the machine. */
export function MachineTraffic({ peer }: { peer: PeerView }) {
  const { data: history } = useTrafficHistory()
  const hour = history?.Peers.find(({ ID }) => ID === peer.ID)
  if (peer.TotalIn + peer.TotalOut === 0) return null
  return (
    <PanelSection title="Traffic with this node">
      <Facts
        facts={[
          ['In', <Flow key="in" rate={peer.RateIn} total={peer.TotalIn} />],
          ['Out', <Flow key="out" rate={peer.RateOut} total={peer.TotalOut} />],
          ...(hour === undefined
            ? []
            : ([
                [
                  'Last hour',
                  <Sparkline
                    key="hour"
                    label="In and out, the last hour"
                    values={hour.In.map((bytes, at) => bytes + (hour.Out[at] ?? 0))}
                  />,
                ],
              ] as const)),
        ]}
      />
    </PanelSection>
  )
}
