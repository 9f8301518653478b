/** Answers of a fake node about its VPN. */
import { CABIN, NAS } from './fake-node.ts'

function vpnPeer(id: string, name: string, OffersExit: readonly string[] | null) {
  return {
    PeerID: id,
    Hostname: name,
    Addresses: [],
    Routes: [],
    OffersExit,
    Way: 'sealed',
    Path: 'direct',
    Transport: 'udp',
    RoundTripMs: 4,
    UDP: { State: 'direct', Reason: null, Endpoint: '192.0.2.7:51820', RoundTripMs: 4 },
    MTU: 1280,
    Since: null,
    PacketsIn: 0,
    PacketsOut: 0,
    BytesIn: 0,
    BytesOut: 0,
    Drops: {},
  }
}

/** What `/api/vpn` answers on a node with two machines, of which `nas` offers to be the exit. */
export function vpnStatus(ExitNode: object | null, over: object = {}) {
  return {
    State: 'running',
    Interface: 'mesh0',
    MTU: 1280,
    Offload: true,
    Addresses: ['10.1.0.1/24'],
    Routes: { Advertised: [], Accepted: [] },
    ExitNode,
    OffersExit: null,
    Peers: [vpnPeer(NAS.peerId, 'nas', ['ipv4', 'ipv6']), vpnPeer(CABIN.peerId, 'cabin', null)],
    Drops: {},
    Ignored: {},
    Refusals: {},
    ...over,
  }
}
