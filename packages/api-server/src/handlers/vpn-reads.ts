/**
 * The VPN's interface, machines and guests; a machine is found by its address, its host name or its peer id.
 */
import type { VpnPeerView, VpnView } from '@mesh/api-contract'
import { type Clock, parsePeerId, tryParseIp } from '@mesh/core'
import { Problem } from '../messages/problem.ts'
import type { VpnPort } from '../vpn-port.ts'
import { isSameName, type Scene } from '../views/members.ts'
import { MAX_NAMED, ping, quote } from './find-and-ping.ts'
import type { HandlersOf } from './handler.ts'

export interface VpnReadsComponents {
  readonly scene: () => Scene
  readonly vpn: () => VpnPort | undefined
  readonly clock: Clock
}

export function createVpnReads({
  scene,
  vpn,
  clock,
}: VpnReadsComponents): HandlersOf<
  'getVpn' | 'pingMachine' | 'listGuests' | 'createGuest' | 'deleteGuest' | 'putExitNode' | 'deleteExitNode'
> {
  const running = () => {
    const port = vpn()
    if (port === undefined) throw new Problem('vpn.not_running')
    return port
  }
  return {
    getVpn: () => withRoundTrips(running().status(), scene()),
    listGuests: () => [...running().guests()],
    createGuest: ({ body }) =>
      running().addGuest({ name: body.Name, endpoint: body.Endpoint, fullTunnel: body.FullTunnel }),
    deleteGuest({ name }) {
      running().removeGuest(name)
      return { State: 'Removed' }
    },
    putExitNode({ body }) {
      const port = running()
      port.setExitNode(body.Exit)
      return withRoundTrips(port.status(), scene())
    },
    deleteExitNode() {
      running().setExitNode(undefined)
      return { State: 'Removed' }
    },
    async pingMachine({ machine }) {
      const port = running()
      const found = findMachine(machine, port, scene().self)
      const { PeerID, Hostname, Addresses } = found
      const ip = tryParseIp(machine)
      return {
        PeerID,
        Hostname,
        Address: Addresses.find((address) => address === ip) ?? Addresses[0] ?? '',
        ...(await ping('vpn.unreachable', (signal) => port.probe(parsePeerId(PeerID), signal), clock)),
      }
    },
  }
}

/** Those over libp2p, where none was measured over UDP. */
function withRoundTrips(view: VpnView, { network }: Scene): VpnView {
  const known = new Map(network?.peers().map(({ id, rttMs }) => [id, rttMs]))
  const peers = view.Peers.map((peer) => ({
    ...peer,
    RoundTripMs: peer.RoundTripMs ?? known.get(peer.PeerID) ?? null,
  }))
  return { ...view, Peers: peers }
}

/** @throws Problem `vpn.unknown_machine`, `vpn.ambiguous_machine` */
function findMachine(name: string, vpn: VpnPort, self: string): VpnPeerView {
  const { Addresses: own, Peers } = vpn.status()
  const ip = tryParseIp(name)
  const isOwn = name === self || own.some((address) => address.split('/')[0] === ip)
  if (isOwn) throw new Problem('vpn.unknown_machine', `${name} is this machine itself`)
  const named = Peers.filter(
    ({ PeerID, Addresses, Hostname }) =>
      PeerID === name ||
      (ip === undefined ? isSameName(Hostname, name) : Addresses.some((address) => address === ip)),
  )
  const [machine, second] = named
  if (machine === undefined)
    throw new Problem('vpn.unknown_machine', `no machine has the name ${quote(name)}`)
  if (second === undefined) return machine
  const which = named.map(({ Addresses, PeerID }) => Addresses[0] ?? PeerID).slice(0, MAX_NAMED)
  throw new Problem(
    'vpn.ambiguous_machine',
    `${named.length} machines are called ${quote(name)}: ${which.join(', ')}`,
  )
}
