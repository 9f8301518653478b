/** A network of any size for the map and the traffic page, made of answers. */
import type { PathReportView, PeerView, TrafficHistoryView } from '@mesh/api-contract'
import { createSigner, type Signer } from '@mesh/ledger'
import { type FakeNode, peer, SELF } from './fake-node.ts'

const NAMES = [
  'nas',
  'cabin',
  'lea-phone',
  'build',
  'paris-edge',
  'workbench',
  'camera',
  'printer',
  'office',
  'studio',
]
/** The machines of one site. */
const SITE_SIZE = 24
/** Links that a machine has beside that to this node. */
const LINKS_OF_EACH = 4

export interface FakeNetwork {
  readonly peers: readonly PeerView[]
  readonly reports: readonly PathReportView[]
}

/** @param machines without this node */
export function createFakeNetwork(machines: number): FakeNetwork {
  const peers = Array.from({ length: machines }, (_, at) => peerAt(at))
  const [first] = peers
  for (const each of peers) if (each.Path === 'relayed') each.Relay = first?.ID ?? null
  const others = peers.filter(({ Connected }) => Connected).map(reportOf(peers))
  return { peers, reports: [{ PeerID: SELF.peerId, State: 'told', AgeMs: 0, Paths: [], More: 0 }, ...others] }
}

/** Puts the network into the answers of the node. */
export function answerNetwork(node: FakeNode, { peers, reports }: FakeNetwork): void {
  const ids = [SELF.peerId, ...peers.filter(({ Connected }) => Connected).map(({ ID }) => ID)]
  const answers = {
    '/api/peers': peers,
    '/api/nodes': ids.map((ID) => ({ ID, Online: true })),
    '/api/paths': reports,
  }
  for (const [path, body] of Object.entries(answers)) node.answer(path, () => ({ status: 200, body }))
}

/** The signer of a machine of the network. */
export function signerAt(at: number): Signer {
  const seed = new Uint8Array(32)
  new DataView(seed.buffer).setUint32(0, at + 10)
  return createSigner(seed)
}

function peerAt(at: number): PeerView {
  const name = `${NAMES[at % NAMES.length]}${at < NAMES.length ? '' : `-${Math.floor(at / NAMES.length) + 1}`}`
  const site = Math.floor(at / SITE_SIZE)
  return peer(signerAt(at).peerId, name, {
    Connected: at % 11 !== 8,
    Path: at % 7 === 1 ? 'relayed' : 'direct',
    Addresses: [`/ip4/203.0.${site}.${(at % SITE_SIZE) + 2}/udp/4001/quic-v1`],
    RoundTripMs: 0.4 + ((at * 37) % 120),
    RateIn: at % 6 === 0 ? 10 ** (at % 8) : 0,
    RateOut: at % 10 === 0 ? 10 ** (at % 7) : 0,
    LastSeen: '2026-11-28T10:00:00Z',
  })
}

/** Each tells of some neighbours; every ninth is silent. */
function reportOf(peers: readonly PeerView[]) {
  return ({ ID }: PeerView, at: number): PathReportView => {
    if (at % 9 === 8) return { PeerID: ID, State: 'silent', AgeMs: null, Paths: [], More: 0 }
    const Paths = Array.from({ length: LINKS_OF_EACH }, (_, step) => {
      const to = peers[(at + 1 + step * step * 5) % peers.length]
      const isRelayed = (at + step) % 6 === 5
      return {
        PeerID: to?.ID ?? ID,
        Path: isRelayed ? ('relayed' as const) : ('direct' as const),
        Relay: isRelayed ? (peers[0]?.ID ?? null) : null,
        RoundTripMs: 1 + ((at * 13 + step) % 80),
        BytesPerSecond: step === 0 && at % 4 === 0 ? 10 ** (at % 7) : 0,
      }
    })
    return { PeerID: ID, State: 'told', AgeMs: 1_000 * (at % 30), Paths, More: 0 }
  }
}

const STEPS = 360
const STEP_SECONDS = 10

/** The last hour of a node that moves files with some of the peers. @param last as in the query */
export function fakeHistory(peers: readonly PeerView[], until: number, last = STEPS): TrafficHistoryView {
  const end = Math.floor(until / 1_000 / STEP_SECONDS)
  const steps = Array.from({ length: Math.min(last, STEPS) }, (_, at) => end - Math.min(last, STEPS) + at)
  const wave = (size: number, period: number, shift: number) =>
    steps.map(
      (step) => size * Math.max(0, Math.sin(step / period + shift) + 0.3 * Math.sin(step * 1.7 + shift)),
    )
  const flow = (ID: string, size: number, period: number, shift: number) => ({
    ID,
    In: wave(size, period, shift),
    Out: wave(size / 3, period * 1.6, shift + 1),
  })
  const Peers = [
    ...peers.slice(0, 5).map(({ ID }, at) => flow(ID, 4e6 / (at + 1), 20 + 9 * at, at)),
    flow('', 2e5, 5, 0),
  ]
  const Protocols = [
    flow('/mesh/bulk/1', 5e6, 30, 1),
    flow('/mesh/packets/1', 2e6, 17, 2),
    flow('/meshsub/1.2.0', 4e4, 9, 0),
    flow('/mesh/replication/1', 2e4, 40, 0),
    flow('/other/thing/1', 1e4, 20, 4),
  ]
  const sum = (side: 'In' | 'Out') =>
    steps.map((_, at) => Peers.reduce((total, each) => total + (each[side][at] ?? 0), 0))
  return {
    StepSeconds: STEP_SECONDS,
    Until: new Date(end * STEP_SECONDS * 1_000).toISOString(),
    In: sum('In'),
    Out: sum('Out'),
    Peers,
    Protocols,
    Vpn: {
      In: wave(900, 23, 0),
      Out: wave(700, 31, 1),
      Drops: [
        { Reason: 'noRoute', Dropped: wave(2, 12, 0), Total: 812 },
        { Reason: 'multicast', Dropped: wave(5, 9, 1), Total: 2_411 },
        { Reason: 'inboundFull', Dropped: steps.map(() => 0), Total: 0 },
      ],
    },
  }
}
