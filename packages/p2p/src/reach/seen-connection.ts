/** A connection of libp2p as the machines see it. */
import type { Connection } from '@libp2p/interface'
import { transportOf } from '../addresses/address-rules.ts'
import { isAsked } from '../libp2p/liveness.ts'
import {
  AUTONAT_REQUEST_PROTOCOL,
  MEMBER_PROTOCOL,
  OWN_PROTOCOL_PREFIX,
  PEERS_PROTOCOL,
} from '../protocols.ts'
import type { SeenConnection } from './peer-state.ts'

export function seeConnection(connection: Connection): SeenConnection {
  const { id, direct, direction, remoteAddr, streams, timeline } = connection
  const [relayAt, rest] = direct ? [] : remoteAddr.toString().split('/p2p-circuit')
  return {
    id,
    direct,
    outbound: direction === 'outbound',
    transport: transportOf(remoteAddr),
    relayAt: rest === undefined ? undefined : relayAt,
    used: streams.some(({ protocol }) => isUse(protocol)),
    dialsBack: streams.some(({ protocol }) => protocol === AUTONAT_REQUEST_PROTOCOL),
    openedAt: timeline.open,
    asked: isAsked(connection),
  }
}

/** More than what every connection carries by itself. */
function isUse(protocol: string): boolean {
  if (protocol === PEERS_PROTOCOL || protocol === MEMBER_PROTOCOL) return false
  return protocol.startsWith(OWN_PROTOCOL_PREFIX)
}
