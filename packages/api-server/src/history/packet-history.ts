/** The history of the VPN's packets: in, out and dropped, by reason. */
import type { TrafficHistoryView, VpnView } from '@mesh/api-contract'
import { FlowSeries, gained, Series } from './series.ts'

type Packets = Pick<VpnView, 'Peers' | 'Drops'>
type Counts = Pick<VpnView['Peers'][number], 'PacketsIn' | 'PacketsOut'>

interface Dropped {
  readonly series: Series
  /** The packets since the start. */
  total: number
  /** The count that the VPN gave last, from which it takes the packets of machines that leave. */
  before: number
}

export class PacketHistory {
  readonly #packets = new FlowSeries()
  /** There are as many reasons as the VPN knows. */
  readonly #drops = new Map<string, Dropped>()
  #peers: ReadonlyMap<string, Counts>

  /** @param now the counts from which gains count */
  constructor({ Peers, Drops }: Packets) {
    this.#peers = byId(Peers)
    for (const [reason, count] of Object.entries(Drops))
      this.#drops.set(reason, { series: new Series(), total: count, before: count })
  }

  step({ Peers, Drops }: Packets, steps: number): void {
    let [packetsIn, packetsOut] = [0, 0]
    for (const { PeerID, PacketsIn, PacketsOut } of Peers) {
      const before = this.#peers.get(PeerID)
      packetsIn += gained(before?.PacketsIn, PacketsIn)
      packetsOut += gained(before?.PacketsOut, PacketsOut)
    }
    this.#peers = byId(Peers)
    this.#packets.push(packetsIn, packetsOut, steps)
    for (const reason of Object.keys(Drops)) {
      if (!this.#drops.has(reason)) this.#drops.set(reason, { series: new Series(), total: 0, before: 0 })
    }
    for (const [reason, dropped] of this.#drops) {
      const count = Drops[reason] ?? 0
      const news = Math.max(0, count - dropped.before)
      dropped.series.push(news, steps)
      dropped.total += news
      dropped.before = count
    }
  }

  told(steps: number): NonNullable<TrafficHistoryView['Vpn']> {
    const occurred = [...this.#drops].filter(([, { total }]) => total > 0)
    return {
      ...this.#packets.rates(steps),
      Drops: occurred.map(([Reason, { series, total }]) => ({
        Reason,
        Dropped: series.rates(steps),
        Total: total,
      })),
    }
  }
}

function byId(peers: VpnView['Peers']): ReadonlyMap<string, Counts> {
  return new Map(peers.map(({ PeerID, PacketsIn, PacketsOut }) => [PeerID, { PacketsIn, PacketsOut }]))
}
