/** Who and what may connect: the VPN's ranges and blocked peers never, and relays serve members only. */
import type { Connection, ConnectionGater } from '@libp2p/interface'
import type { AddressRules } from '../addresses/address-rules.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import { connectionsTo } from '../libp2p/connections.ts'
import { addressGroupOf } from '../addresses/address-group.ts'
import { MAX_RELAY_CIRCUITS_PER_ADDRESS, MAX_RELAY_CIRCUITS_PER_PEER } from './limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { RefusalCode } from '../p2p-error.ts'
import { RELAY_HOP, RELAY_STOP } from '../protocols.ts'
import type { Refusals } from '../refusals.ts'
import { isPhantomWebRtc } from '../upstream/webrtc/connections.ts'
import type { ConnectionGuard } from './connection-guard.ts'
import type { ReservationLimits } from './reservation-limits.ts'

interface GateInit {
  readonly rules: AddressRules
  readonly isBlockedPeer: (peer: string) => boolean
  /** May the two talk, by access rules? All may by default. */
  readonly mayTalk?: ((one: string, other: string) => boolean) | undefined
  readonly view: Pick<HostView, 'isMember' | 'connections' | 'allConnections' | 'self'>
  /** Sees the connections that come in, and says who is back too soon. */
  readonly guard?: Pick<ConnectionGuard, 'accepted' | 'upgraded' | 'isTooSoon'>
  /** Bounds reservations by address; none are bounded without it. */
  readonly reservations?: ReservationLimits
  /** The most circuits of one peer; `MAX_RELAY_CIRCUITS_PER_PEER` by default. */
  readonly maxCircuitsPerPeer?: number
  readonly refusals: Pick<Refusals, 'refuse'>
}

/** The gate's knowledge of the host and its members: nobody, until both stand. */
export class HostView {
  #host: MeshHost | undefined
  #membership: Pick<Membership, 'isMember'> | undefined

  attach(host: MeshHost, membership: Pick<Membership, 'isMember'>): void {
    this.#host = host
    this.#membership = membership
  }

  /** The id of this node; empty until the host stands. */
  get self(): string {
    return this.#host?.peerId.toString() ?? ''
  }

  isMember(peer: string): boolean {
    return this.#membership?.isMember(peer) === true
  }

  connections(peer: string): readonly Connection[] {
    return this.#host === undefined ? [] : connectionsTo(this.#host, peer)
  }

  allConnections(): readonly Connection[] {
    return this.#host?.getConnections() ?? []
  }

  /** Ends the reservation that a peer has on this node; does nothing on a node that does not relay. */
  endReservation: (peer: string) => void = () => {}
}

/** Creates the gate that libp2p asks before it dials, accepts and relays. */
export function createConnectionGate(init: GateInit): ConnectionGater {
  const { rules, isBlockedPeer, view, refusals, guard, reservations, mayTalk = () => true } = init
  const isMember = (peer: string) => view.isMember(peer)
  const { maxCircuitsPerPeer = MAX_RELAY_CIRCUITS_PER_PEER } = init
  const maxCircuitsPerAddress = Math.max(MAX_RELAY_CIRCUITS_PER_ADDRESS, maxCircuitsPerPeer)
  const refuse = (when: boolean, code: RefusalCode, peer?: string, protocol?: string) => {
    if (when) {
      refusals.refuse(code, {
        ...(peer === undefined ? {} : { peer }),
        ...(protocol === undefined ? {} : { protocol }),
      })
    }
    return when
  }
  const mayReserve = (peer: string) => {
    if (reservations === undefined) return true
    const [connection] = view.connections(peer)
    return reservations.take(peer, connection === undefined ? peer : addressGroupOf(connection))
  }
  return {
    denyDialPeer: (peer) => isBlockedPeer(peer.toString()),
    denyDialMultiaddr: (address) => rules.isBlocked(address),
    denyInboundConnection(raw) {
      if (refuse(rules.isBlocked(raw.remoteAddr), 'host.blocked_range')) return true
      return refuse(guard?.accepted(raw) === false, 'host.too_many')
    },
    denyOutboundConnection: (_peer, raw) => rules.isBlocked(raw.remoteAddr),
    denyInboundEncryptedConnection(peer, raw) {
      const id = peer.toString()
      if (refuse(isBlockedPeer(id), 'host.blocked_peer', id) || isPhantomWebRtc(raw)) return true
      return refuse(guard?.isTooSoon(id) === true, 'host.too_soon', id)
    },
    denyInboundUpgradedConnection(_peer, raw) {
      guard?.upgraded(raw)
      return false
    },
    denyOutboundEncryptedConnection: (peer, raw) => isBlockedPeer(peer.toString()) || isPhantomWebRtc(raw),
    filterMultiaddrForPeer: (_peer, address) => !rules.isBlocked(address),
    denyInboundRelayReservation(peer) {
      const id = peer.toString()
      if (refuse(!isMember(id), 'relay.not_member', id, RELAY_HOP)) return true
      return refuse(!mayReserve(id), 'relay.too_many_reservations', id, RELAY_HOP)
    },
    denyOutboundRelayedConnection: (source, destination) => {
      const [from, to] = [source.toString(), destination.toString()]
      if (refuse(!isMember(from) || !isMember(to), 'relay.not_member', from, RELAY_HOP)) return true
      if (refuse(!mayTalk(from, to), 'relay.refused_by_rules', from, RELAY_HOP)) return true
      const asking = view.connections(from)
      // the stream that asks is among the asker's own
      const full =
        circuits(asking) > maxCircuitsPerPeer ||
        circuits(view.connections(to)) >= maxCircuitsPerPeer ||
        circuits(sharingAddress(asking, view.allConnections())) > maxCircuitsPerAddress
      return refuse(full, 'relay.too_many_circuits', from, RELAY_HOP)
    },
    denyInboundRelayedConnection(relay, source) {
      if (refuse(!isMember(relay.toString()), 'relay.not_member', relay.toString(), RELAY_STOP)) return true
      const from = source.toString()
      return refuse(!mayTalk(from, view.self), 'relay.refused_by_rules', from, RELAY_STOP)
    },
  }
}

/** Chooses, of all connections, those that come from an address of the given ones: keys cost nothing. */
function sharingAddress(given: readonly Connection[], all: readonly Connection[]): readonly Connection[] {
  const addresses = new Set(given.map(addressGroupOf))
  return all.filter((connection) => addresses.has(addressGroupOf(connection)))
}

/** Counts the circuits that run over these connections. */
function circuits(connections: readonly Connection[]): number {
  let count = 0
  for (const { streams } of connections) {
    for (const { protocol, direction } of streams) {
      if (
        (protocol === RELAY_HOP && direction === 'inbound') ||
        (protocol === RELAY_STOP && direction === 'outbound')
      )
        count++
    }
  }
  return count
}
