/** Raw bytes between members, over the streams of `member-streams.ts`. */
import { type Clock, type Logger, toError } from '@mesh/core'
import type { Scope } from '@mesh/core/limits'
import type { Bulk } from '../bulk/bulk.ts'
import type { ByteStreams } from '../p2p-node.ts'
import type { Unsent } from '../unsent.ts'
import { createByteStream } from './byte-stream.ts'
import type { MemberStreams } from './member-streams.ts'

interface ByteStreamsComponents {
  readonly streams: MemberStreams
  /** Gives undefined where the platform has none. */
  readonly bulk: () => Bulk | undefined
  /** Bounds what waits on streams that nobody reads. */
  readonly unread: Scope
  /** Counts what waits to go out on all of them. */
  readonly unsent: Unsent
  readonly clock: Clock
  readonly logger: Logger
}

/** Creates the byte streams of one node. */
export function createByteStreams({ streams, bulk, logger, ...shared }: ByteStreamsComponents): ByteStreams {
  const log = logger.child('streams')
  return {
    async handle(protocol, options, handler) {
      await streams.serve(protocol, options, (inbound) => {
        const stream = createByteStream({ ...inbound, ...shared, halfClose: options.halfClose })
        try {
          handler(stream)
        } catch (error) {
          log.debug('stream not taken', { peer: inbound.peer, protocol, error: String(error) })
          stream.abort(toError(error))
        }
      })
      if (options.bulk !== true) return
      const { maxPerPeer, halfClose = false } = options
      bulk()?.serve(protocol, { maxPerPeer, halfClose, handle: handler })
    },
    async open(peer, protocol, { signal, halfClose, bulk: mayBeBulk, ...rules }) {
      if (mayBeBulk === true) {
        const stream = await bulk()?.open(peer, protocol, { halfClose: halfClose ?? false })
        if (stream !== undefined) return stream
        signal?.throwIfAborted()
      }
      const opened = await streams.open(peer, protocol, { ...rules, signal })
      return createByteStream({ ...opened, ...shared, halfClose })
    },
    prepare: (peer) => bulk()?.prepare(peer),
  }
}
