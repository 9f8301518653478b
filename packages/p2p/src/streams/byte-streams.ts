/** Raw bytes between members, over the streams of `member-streams.ts`. */
import { type Clock, type Logger, toError } from '@mesh/core'
import type { ByteStreams } from '../p2p-node.ts'
import { createByteStream } from './byte-stream.ts'
import type { MemberStreams } from './member-streams.ts'

export interface ByteStreamsComponents {
  readonly streams: MemberStreams
  readonly clock: Clock
  readonly logger: Logger
}

export function createByteStreams({ streams, clock, logger }: ByteStreamsComponents): ByteStreams {
  const log = logger.child('streams')
  return {
    handle: (protocol, options, handler) =>
      streams.serve(protocol, options, (inbound) => {
        const stream = createByteStream({ ...inbound, clock, halfClose: options.halfClose })
        try {
          handler(stream)
        } catch (error) {
          log.debug('stream not taken', { peer: inbound.peer, protocol, error: String(error) })
          stream.abort(toError(error))
        }
      }),
    async open(peer, protocol, { signal, halfClose, ...rules }) {
      const opened = await streams.open(peer, protocol, { ...rules, signal })
      return createByteStream({ ...opened, clock, halfClose })
    },
  }
}
