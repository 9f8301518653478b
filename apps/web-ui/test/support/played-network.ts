/** The fake network as the port of a real API server: machines come and go, and what flows changes with each step. */
import type { PathReportView, PeerView } from '@mesh/api-contract'
import type { NetworkEvent, NetworkPort, PeerState, TrafficStats } from '@mesh/api-server'
import { parsePeerId } from '@mesh/core'
import { createFakeNetwork } from './fake-network.ts'

/** Another machine goes or comes after this number of steps. */
const STEPS_OF_A_MOVE = 5
const PROTOCOLS = ['/mesh/packets/1', '/mesh/bulk/1', '/meshsub/1.2.0', '/mesh/replication/1']

export interface PlayedNetwork {
  readonly port: NetworkPort
  readonly peers: readonly PeerView[]
  /** What happens in one second. */
  step(): void
}

/** @param machines without this node */
export function playNetwork(machines: number): PlayedNetwork {
  const { peers, reports } = createFakeNetwork(machines)
  const states = new Map(peers.map((peer) => [peer.ID, stateOf(peer)]))
  const traffic = new Map(peers.map((peer) => [peer.ID, statsOf(peer)]))
  const listeners = new Set<(event: NetworkEvent) => void>()
  const total = () => sum([...traffic.values()])
  let steps = 0
  return {
    peers,
    port: {
      members: () => [...states.values()].filter(({ connected }) => connected).map(({ id }) => id),
      peers: () => [...states.values()],
      addPeer: (address) => parsePeerId(address.split('/').at(-1) ?? ''),
      forget: async (id) => states.delete(id),
      pathReports: () => reports.map((report) => reportOf(report, waveAt(steps))),
      probe: async (id) => ({ path: 'direct', transport: 'tcp', rttMs: states.get(id)?.rttMs ?? 1 }),
      traffic: {
        total,
        byProtocol: () => new Map(PROTOCOLS.map((id, at) => [id, part(total(), 0.5 / (at + 1))])),
        byPeer: () => traffic,
      },
      subscribe(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    step() {
      steps++
      for (const [at, { ID, RateIn, RateOut, RoundTripMs }] of peers.entries()) {
        const wave = waveAt(steps + 7 * at)
        flow(traffic, ID, RateIn * wave, RateOut * wave)
        const state = states.get(ID)
        if (state !== undefined) states.set(ID, { ...state, rttMs: (RoundTripMs ?? 1) * (0.9 + wave / 10) })
      }
      if (steps % STEPS_OF_A_MOVE !== 0) return
      const moved = states.get(peers[(steps / STEPS_OF_A_MOVE) % peers.length]?.ID ?? '')
      if (moved === undefined) return
      states.set(moved.id, { ...moved, connected: !moved.connected, lastSeen: Date.now() })
      const { id: peer, path = 'direct' } = moved
      const event: NetworkEvent = moved.connected
        ? { type: 'peer.disconnected', peer }
        : { type: 'peer.connected', peer, path }
      for (const tell of listeners) tell(event)
    },
  }
}

/** Between 0.2 and 1.8. */
const waveAt = (step: number) => 1 + 0.8 * Math.sin(step / 6)

function stateOf({ ID, Connected, Member, Path, Relay, Addresses, RoundTripMs, Name }: PeerView): PeerState {
  return {
    id: ID,
    name: Name ?? undefined,
    connected: Connected,
    member: Member,
    path: Path ?? undefined,
    relay: Relay ?? undefined,
    transport: 'tcp',
    addresses: Addresses,
    rttMs: RoundTripMs ?? undefined,
    lastSeen: Date.now(),
    lastError: undefined,
    agent: 'mesh/0.1.0',
  }
}

function reportOf({ PeerID, State, AgeMs, Paths, More }: PathReportView, wave: number) {
  const paths = Paths.map(({ PeerID: peer, Path: path, Relay, RoundTripMs, BytesPerSecond }) => ({
    peer,
    path,
    relay: Relay ?? undefined,
    rttMs: RoundTripMs ?? undefined,
    bytesPerSecond: Math.round(BytesPerSecond * wave),
  }))
  return { peer: PeerID, state: State, ageMs: AgeMs ?? undefined, paths, more: More }
}

const statsOf = ({ RateIn, RateOut }: PeerView): TrafficStats => ({
  totalIn: RateIn * 600,
  totalOut: RateOut * 600,
  rateIn: RateIn,
  rateOut: RateOut,
})

function flow(traffic: Map<string, TrafficStats>, id: string, rateIn: number, rateOut: number): void {
  const { totalIn = 0, totalOut = 0 } = traffic.get(id) ?? {}
  traffic.set(id, { totalIn: totalIn + rateIn, totalOut: totalOut + rateOut, rateIn, rateOut })
}

const NONE: TrafficStats = { totalIn: 0, totalOut: 0, rateIn: 0, rateOut: 0 }

const sum = (all: readonly TrafficStats[]): TrafficStats =>
  all.reduce(
    (a, b) => ({
      totalIn: a.totalIn + b.totalIn,
      totalOut: a.totalOut + b.totalOut,
      rateIn: a.rateIn + b.rateIn,
      rateOut: a.rateOut + b.rateOut,
    }),
    NONE,
  )

const part = ({ totalIn, totalOut, rateIn, rateOut }: TrafficStats, share: number): TrafficStats => ({
  totalIn: totalIn * share,
  totalOut: totalOut * share,
  rateIn: rateIn * share,
  rateOut: rateOut * share,
})
