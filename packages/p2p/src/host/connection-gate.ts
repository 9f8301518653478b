/** Who and what may connect: the VPN's ranges and blocked peers never, relaying for members only. */
import type { Connection, ConnectionGater, MultiaddrConnection } from '@libp2p/interface'
import { type AddressRules, transportOf } from '../addresses/address-rules.ts'
import { MAX_RELAY_CIRCUITS_PER_PEER } from '../limits.ts'
import type { RefusalCode } from '../p2p-error.ts'
import { RELAY_HOP, RELAY_STOP } from '../protocols.ts'

export interface GateInit {
  readonly rules: AddressRules
  readonly isBlockedPeer: (peer: string) => boolean
  readonly isMember: (peer: string) => boolean
  readonly connections: (peer: string) => readonly Connection[]
  /** Default `MAX_RELAY_CIRCUITS_PER_PEER`. */
  readonly maxCircuitsPerPeer?: number
  /** Counted and told to subscribers. */
  readonly onRefused: (
    code: RefusalCode,
    from: { readonly peer?: string; readonly protocol?: string },
  ) => void
}

export function createConnectionGate(init: GateInit): ConnectionGater {
  const { rules, isBlockedPeer, isMember, onRefused, maxCircuitsPerPeer = MAX_RELAY_CIRCUITS_PER_PEER } = init
  const refuse = (when: boolean, code: RefusalCode, peer?: string, protocol?: string) => {
    if (when) {
      onRefused(code, {
        ...(peer === undefined ? {} : { peer }),
        ...(protocol === undefined ? {} : { protocol }),
      })
    }
    return when
  }
  return {
    denyDialPeer: (peer) => isBlockedPeer(peer.toString()),
    denyDialMultiaddr: (address) => rules.isBlocked(address),
    denyInboundConnection: (raw) => refuse(rules.isBlocked(raw.remoteAddr), 'host.blocked_range'),
    denyOutboundConnection: (_peer, raw) => rules.isBlocked(raw.remoteAddr),
    denyInboundEncryptedConnection: (peer, raw) =>
      refuse(isBlockedPeer(peer.toString()), 'host.blocked_peer', peer.toString()) || isPhantom(raw),
    denyOutboundEncryptedConnection: (peer, raw) => isBlockedPeer(peer.toString()) || isPhantom(raw),
    filterMultiaddrForPeer: (_peer, address) => !rules.isBlocked(address),
    denyInboundRelayReservation: (peer) =>
      refuse(!isMember(peer.toString()), 'relay.not_member', peer.toString(), RELAY_HOP),
    denyOutboundRelayedConnection: (source, destination) => {
      const [from, to] = [source.toString(), destination.toString()]
      if (refuse(!isMember(from) || !isMember(to), 'relay.not_member', from, RELAY_HOP)) return true
      // the stream that asks is among the asker's own
      const full =
        circuits(init.connections(from)) > maxCircuitsPerPeer ||
        circuits(init.connections(to)) >= maxCircuitsPerPeer
      return refuse(full, 'relay.too_many_circuits', from, RELAY_HOP)
    },
    denyInboundRelayedConnection: (relay) =>
      refuse(!isMember(relay.toString()), 'relay.not_member', relay.toString(), RELAY_STOP),
  }
}

/**
 * A WebRTC connection that never came about: `@libp2p/webrtc` takes the end of signalling for success, whatever ended
 * it, and would hand out a connection through which nothing passes.
 */
function isPhantom(raw: MultiaddrConnection): boolean {
  if (transportOf(raw.remoteAddr) !== 'webrtc' || !('peerConnection' in raw)) return false
  const { peerConnection } = raw as { readonly peerConnection?: { readonly connectionState?: string } }
  return peerConnection?.connectionState !== 'connected'
}

/** Circuits that run over these connections. */
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
