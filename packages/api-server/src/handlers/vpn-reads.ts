/**
 * The VPN's interface, machines and guests; a machine is found by its address, its host name or its peer id.
 */
import { isErrorCode } from '@mesh/api-contract'
import { type Clock, MeshError, parsePeerId, tryParseIp } from '@mesh/core'
import { Problem } from '../messages/problem.ts'
import { PING_TIMEOUT_MS } from '../limits.ts'
import type { VpnPeerState, VpnPort } from '../vpn-port.ts'
import { isSameName, type Scene } from '../views/members.ts'
import { guestView, udpPingView, vpnView } from '../views/vpn.ts'
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
    getVpn: () => vpnView(running().status(), roundTripsOf(scene())),
    listGuests: () => running().guests().map(guestView),
    async createGuest({ body }) {
      const { name, address, address6, publicKey, endpoint, configuration } = await running().addGuest({
        name: body.Name,
        endpoint: body.Endpoint,
        fullTunnel: body.FullTunnel,
      })
      return {
        Name: name,
        Address: address,
        Address6: address6 ?? null,
        PublicKey: publicKey,
        Endpoint: endpoint,
        Configuration: configuration,
      }
    },
    deleteGuest({ name }) {
      running().removeGuest(name)
      return { State: 'Removed' }
    },
    putExitNode({ body }) {
      const port = running()
      port.setExitNode(body.Exit)
      return vpnView(port.status(), roundTripsOf(scene()))
    },
    deleteExitNode() {
      running().setExitNode(undefined)
      return { State: 'Removed' }
    },
    async pingMachine({ machine }) {
      const port = running()
      const found = findMachine(machine, port, scene().self)
      const probe = await measure(port, found, clock)
      return {
        PeerID: found.peer,
        Hostname: found.hostname,
        Address:
          found.addresses.find((address) => address === tryParseIp(machine)) ?? found.addresses[0] ?? '',
        Way: probe.way,
        Path: probe.path,
        Transport: probe.transport ?? null,
        RoundTripMs: probe.rttMs,
        MTU: probe.mtu,
        UDP: udpPingView(probe.udp),
      }
    },
  }
}

function roundTripsOf({ network }: Scene): ReadonlyMap<string, number> {
  return new Map(
    (network?.peers() ?? []).flatMap(({ id, rttMs }) => (rttMs === undefined ? [] : [[id, rttMs]])),
  )
}

/** @throws Problem `vpn.unknown_machine`, `vpn.ambiguous_machine` */
function findMachine(name: string, vpn: VpnPort, self: string): VpnPeerState {
  const { addresses, peers } = vpn.status()
  const ip = tryParseIp(name)
  const isOwn = name === self || addresses.some(({ address }) => address === ip)
  if (isOwn) throw new Problem('vpn.unknown_machine', `${name} is this machine itself`)
  const named = peers.filter(
    ({ peer, addresses: its, hostname }) =>
      peer === name ||
      (ip === undefined ? isSameName(hostname, name) : its.some((address) => address === ip)),
  )
  const [machine, second] = named
  if (machine === undefined)
    throw new Problem('vpn.unknown_machine', `no machine has the name ${quote(name)}`)
  if (second === undefined) return machine
  const which = named.map((each) => each.addresses[0] ?? each.peer).slice(0, MAX_NAMED)
  throw new Problem(
    'vpn.ambiguous_machine',
    `${named.length} machines are called ${quote(name)}: ${which.join(', ')}`,
  )
}

/** How many of the machines that share a name an answer lists. */
const MAX_NAMED = 5

async function measure(vpn: VpnPort, { peer }: VpnPeerState, clock: Clock) {
  const limit = new AbortController()
  const late = new Problem('vpn.unreachable', `no answer within ${PING_TIMEOUT_MS / 1_000} s`)
  const cancel = clock.after(PING_TIMEOUT_MS, () => limit.abort(late))
  try {
    return await vpn.probe(parsePeerId(peer), limit.signal)
  } catch (error) {
    throw error instanceof MeshError ? unreached(error) : error
  } finally {
    cancel()
  }
}

function unreached(error: MeshError): MeshError {
  // it left the VPN just now
  if (error.code === 'vpn.unknown_peer') return new Problem('vpn.unknown_machine')
  if (isErrorCode(error.code)) return error
  const { message, hint } = error
  return new Problem('vpn.unreachable', message, { cause: error, ...(hint !== undefined && { hint }) })
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 80))
}
