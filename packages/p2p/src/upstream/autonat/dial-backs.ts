/**
 * Dials back for peers that ask AutoNAT, at few addresses of their own, and not often.
 *
 * @library @libp2p/autonat-v2 2.0.15
 * @wraps `server.handleDialRequestStream` and `server.components` of the service
 * @without Strangers have the node connect to third parties, at as many addresses as a message holds.
 * @shown `upstream/dcutr/hole-punches.test.ts`, `npm run attack -- dial-requests`
 */
import type { Connection, Stream } from '@libp2p/interface'
import { type Dialling, type DialsForOthers, dialsTowards } from '../../addresses/dials-for-others.ts'
import { openInner } from '../inner-names.ts'

interface DialBacks {
  readonly components: { readonly connectionManager: Dialling }
  handleDialRequestStream(stream: Stream, connection: Connection): Promise<void>
}

/** Changes a service that has not started yet. @throws MeshError `p2p.incompatible_library` */
export function boundDialBacks<T extends object>(service: T, init: DialsForOthers): T {
  const library = '@libp2p/autonat-v2 2.0.15'
  const { server } = openInner<{ server: object }>(library, service, ['server'])
  const dialBacks = openInner<DialBacks>(library, server, ['components', 'handleDialRequestStream'])
  const { components } = dialBacks
  // the method of the object may be bound to it
  const { handleDialRequestStream } = Object.getPrototypeOf(server) as DialBacks
  dialBacks.handleDialRequestStream = async (stream, connection) => {
    if (!init.isAllowed(connection)) return stream.abort(new Error('too many questions'))
    const connectionManager = dialsTowards(connection, components.connectionManager, init)
    const bounded = Object.create(server, {
      components: { value: Object.assign(Object.create(components) as object, { connectionManager }) },
    }) as DialBacks
    await handleDialRequestStream.call(bounded, stream, connection)
  }
  return service
}
