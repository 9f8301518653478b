/** The VPN as the API shows it, in the names of the contract. */
import type { GuestView, VpnPeerView, VpnPingView, VpnView } from '@mesh/api-contract'
import type { VpnPort } from '@mesh/api-server'
import { formatAddressInRange } from '@mesh/core'
import type { GuestStatus, Vpn, VpnPeerStatus, VpnStatus } from '@mesh/vpn'
import { WAY_OF_TUNNEL } from '../metrics/vpn-metrics.ts'
import { formatPlace } from '../words/format-place.ts'

type UdpStatus = VpnPeerStatus['udp']

export function createVpnPort(
  vpn: Pick<Vpn, 'status' | 'probe' | 'guests' | 'addGuest' | 'removeGuest' | 'subscribe'>,
  setExitNode: VpnPort['setExitNode'],
): VpnPort {
  return {
    status: () => vpnView(vpn.status()),
    guests: () => vpn.guests().map(guestView),
    async addGuest(request) {
      const {
        name,
        address,
        address6 = null,
        publicKey,
        endpoint,
        configuration,
      } = await vpn.addGuest(request)
      return {
        Name: name,
        Address: address,
        Address6: address6,
        PublicKey: publicKey,
        Endpoint: endpoint,
        Configuration: configuration,
      }
    },
    removeGuest: (name) => vpn.removeGuest(name),
    setExitNode,
    onPath: (listener) =>
      vpn.subscribe((event) => {
        if (event.type === 'path') listener(event.peer, udpView(event.udp))
      }),
    async probe(peer, signal) {
      const { tunnel, path, transport = null, rttMs, mtu, udp } = await vpn.probe(peer, signal)
      return {
        Way: WAY_OF_TUNNEL[tunnel],
        Path: path,
        Transport: transport,
        RoundTripMs: rttMs,
        MTU: mtu,
        UDP: udpPingView(udp),
      }
    },
  }
}

function vpnView(status: VpnStatus): VpnView {
  const { state, interface: device, addresses, routes, peers, offersExit, ignored, refusals } = status
  return {
    State: state,
    Interface: device?.name ?? null,
    MTU: device?.mtu ?? null,
    Offload: device?.offload ?? false,
    Addresses: addresses.map(formatAddressInRange),
    Routes: {
      Advertised: [...routes.advertised],
      Own: routes.own.map(({ range, metric, state: how, others }) => ({
        CIDR: range,
        Metric: metric,
        State: how,
        Others: [...others],
      })),
      Accepted: routes.accepted.map(({ range, peer, metric, inKernel }) => ({
        CIDR: range,
        PeerID: peer,
        Metric: metric,
        InKernel: inKernel,
        Standby: routes.standby.filter((each) => each.range === range).map((each) => each.peer),
      })),
    },
    ExitNode: exitView(status.exit),
    OffersExit: offersExit === undefined ? null : [...offersExit],
    Peers: peers.map(vpnPeerView),
    Drops: dropsOf([status.device, ...peers.map(({ counters }) => counters)]),
    Ignored: present(ignored),
    Refusals: present(refusals),
  }
}

function exitView(exit: VpnStatus['exit']): VpnView['ExitNode'] {
  if (exit === undefined) return null
  const { wanted, peer, hostname, state, families, standby } = exit
  return {
    Wanted: wanted,
    PeerID: peer ?? null,
    Hostname: hostname,
    State: state,
    Families: [...families],
    Standby: [...standby],
  }
}

function vpnPeerView(peer: VpnPeerStatus): VpnPeerView {
  const { counters, sessionSince } = peer
  return {
    PeerID: peer.peer,
    Hostname: peer.hostname,
    Addresses: [...peer.addresses],
    Routes: [...peer.routes],
    OffersExit: peer.exit.length === 0 ? null : [...peer.exit],
    Way: WAY_OF_TUNNEL[peer.tunnel],
    Path: peer.path ?? null,
    Transport: peer.transport ?? null,
    RoundTripMs: peer.udp.rttMs ?? null,
    UDP: udpView(peer.udp),
    MTU: peer.mtu,
    Since: sessionSince === undefined ? null : new Date(sessionSince).toISOString(),
    PacketsIn: counters.packetsIn,
    PacketsOut: counters.packetsOut,
    BytesIn: counters.bytesIn,
    BytesOut: counters.bytesOut,
    Drops: present(counters.drops),
  }
}

/** Says the way over UDP, or why there is none. */
function udpView({ state, reason, endpoint, rttMs }: UdpStatus): VpnPeerView['UDP'] {
  return {
    State: state,
    Reason: reason ?? null,
    Endpoint: endpoint === undefined ? null : formatPlace(endpoint.address, endpoint.port),
    RoundTripMs: rttMs ?? null,
  }
}

/** Says the way over UDP with all addresses that were tried. */
function udpPingView(udp: UdpStatus): VpnPingView['UDP'] {
  const candidates = udp.candidates.map(({ endpoint, kind, isAnswered, isHeard, rttMs, mtu }) => ({
    Endpoint: formatPlace(endpoint.address, endpoint.port),
    Kind: kind,
    Answered: isAnswered,
    Heard: isHeard,
    RoundTripMs: rttMs ?? null,
    MTU: mtu,
  }))
  return { ...udpView(udp), Candidates: candidates }
}

function guestView(guest: GuestStatus): GuestView {
  const { name, address, address6, publicKey, addedAt, sessionSince, endpoint, counters } = guest
  const { fullTunnel, findsNodeAt, isLost } = guest
  return {
    Name: name,
    Address: address,
    Address6: address6 ?? null,
    PublicKey: publicKey,
    AddedAt: new Date(addedAt).toISOString(),
    FullTunnel: fullTunnel,
    NodeEndpoint: findsNodeAt ?? null,
    NodeMoved: isLost,
    Handshake: sessionSince === undefined ? null : new Date(sessionSince).toISOString(),
    Endpoint: endpoint ?? null,
    PacketsIn: counters.packetsIn,
    PacketsOut: counters.packetsOut,
    BytesIn: counters.bytesIn,
    BytesOut: counters.bytesOut,
  }
}

/** Adds up the counts by reason. */
function dropsOf(
  all: readonly { readonly drops: Readonly<Record<string, number | undefined>> }[],
): Readonly<Record<string, number>> {
  const sums: Record<string, number> = Object.create(null)
  for (const { drops } of all) {
    for (const [reason, count = 0] of Object.entries(drops)) sums[reason] = (sums[reason] ?? 0) + count
  }
  return sums
}

function present(counts: Readonly<Record<string, number | undefined>>): Readonly<Record<string, number>> {
  const known: Record<string, number> = Object.create(null)
  for (const [name, count] of Object.entries(counts)) if (count !== undefined) known[name] = count
  return known
}
