/**
 * Punches holes for peers that a relay joins only, and dials their own addresses only.
 *
 * @library @libp2p/dcutr 3.0.28
 * @wraps `handleIncomingUpgrade`, `upgradeInbound` and `connectionManager` of the service
 * @without Strangers have the node connect to third parties and to itself, as often as they like.
 * @shown `upstream/dcutr/hole-punches.test.ts`, `npm run attack -- hole-punches`
 */
import type { Connection, Stream } from '@libp2p/interface'
import { isRelayed } from '../../addresses/address-rules.ts'
import { type Dialling, type DialsForOthers, dialsTowards } from '../../addresses/dials-for-others.ts'
import { openInner } from '../inner-names.ts'

interface HolePunching {
  readonly connectionManager: Dialling
  handleIncomingUpgrade(stream: Stream, connection: Connection): Promise<void>
  upgradeInbound(connection: Connection): Promise<void>
}

/** Changes a service that has not started yet. @throws MeshError `p2p.incompatible_library` */
export function boundHolePunches<T extends object>(service: T, init: DialsForOthers): T {
  const names = ['connectionManager', 'handleIncomingUpgrade', 'upgradeInbound'] as const
  const punching = openInner<HolePunching>('@libp2p/dcutr 3.0.28', service, names)
  const { connectionManager } = punching
  // the methods of the object may be bound to it
  const { handleIncomingUpgrade, upgradeInbound } = Object.getPrototypeOf(service) as HolePunching
  const dialling = (connection: Connection) =>
    Object.create(service, {
      connectionManager: { value: dialsTowards(connection, connectionManager, init) },
    }) as HolePunching
  punching.handleIncomingUpgrade = async (stream, connection) => {
    if (isRelayed(connection.remoteAddr) && init.isAllowed(connection))
      return await handleIncomingUpgrade.call(dialling(connection), stream, connection)
    stream.abort(new Error('no hole is punched for this peer now'))
  }
  punching.upgradeInbound = async (connection) => {
    if (init.isAllowed(connection)) await upgradeInbound.call(dialling(connection), connection)
  }
  return service
}
