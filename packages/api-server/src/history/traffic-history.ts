/** The traffic of the last hour: counters are read in steps of fixed length, by the monotonic clock. */
import { KEPT_TRAFFIC_STEPS, TRAFFIC_STEP_SECONDS, type TrafficHistoryView } from '@mesh/api-contract'
import type { Clock } from '@mesh/core'
import type { TrafficPort } from '../ports.ts'
import type { VpnPort } from '../vpn-port.ts'
import { Flows } from './flows.ts'
import { PacketHistory } from './packet-history.ts'
import { FlowSeries, gained } from './series.ts'

interface TrafficHistoryComponents {
  readonly traffic: TrafficPort
  /** Undefined while this node has no VPN. */
  readonly vpn: () => VpnPort | undefined
  readonly clock: Clock
}

const STEP_MS = 1_000 * TRAFFIC_STEP_SECONDS

export class TrafficHistory {
  readonly #components: TrafficHistoryComponents
  readonly #total = new FlowSeries()
  readonly #peers: Flows
  readonly #protocols: Flows
  #packets: PacketHistory | undefined
  #before: ReturnType<TrafficPort['total']>
  /** The number of steps that are kept. */
  #steps = 0
  /** When the last step ended, in monotonic ms. */
  #until: number
  #cancel: () => void

  /** Reads the first step after `TRAFFIC_STEP_SECONDS`. */
  constructor(components: TrafficHistoryComponents) {
    const { traffic, clock } = components
    this.#components = components
    this.#before = traffic.total()
    this.#peers = new Flows(traffic.byPeer())
    this.#protocols = new Flows(traffic.byProtocol())
    this.#until = clock.monotonic()
    this.#cancel = this.#wait()
  }

  stop(): void {
    this.#cancel()
  }

  /** @param last the number of steps that are wanted at most */
  view(last = KEPT_TRAFFIC_STEPS): TrafficHistoryView {
    const { clock } = this.#components
    const steps = Math.min(last, this.#steps)
    return {
      StepSeconds: TRAFFIC_STEP_SECONDS,
      Until: new Date(clock.now() - (clock.monotonic() - this.#until)).toISOString(),
      ...this.#total.rates(steps),
      Peers: this.#peers.told(steps),
      Protocols: this.#protocols.told(steps),
      Vpn: this.#packetsNow()?.told(steps) ?? null,
    }
  }

  #wait(): () => void {
    const { clock } = this.#components
    return clock.after(this.#until + STEP_MS - clock.monotonic(), () => {
      this.#step()
      this.#cancel = this.#wait()
    })
  }

  /** A timer that comes late, as after a standstill, ends several steps at once. */
  #step(): void {
    const { traffic, vpn, clock } = this.#components
    const passed = Math.floor((clock.monotonic() - this.#until) / STEP_MS)
    if (passed === 0) return
    const steps = Math.min(passed, KEPT_TRAFFIC_STEPS)
    this.#until += passed * STEP_MS
    this.#steps = Math.min(KEPT_TRAFFIC_STEPS, this.#steps + steps)
    const total = traffic.total()
    const { totalIn, totalOut } = this.#before
    this.#total.push(gained(totalIn, total.totalIn), gained(totalOut, total.totalOut), steps)
    this.#before = total
    this.#peers.step(traffic.byPeer(), steps)
    this.#protocols.step(traffic.byProtocol(), steps)
    const status = vpn()?.status()
    if (status !== undefined) this.#packetsNow()?.step(status, steps)
  }

  /** Packets count from when they are first looked at. */
  #packetsNow(): PacketHistory | undefined {
    const vpn = this.#components.vpn()
    if (vpn !== undefined) this.#packets ??= new PacketHistory(vpn.status())
    return this.#packets
  }
}
