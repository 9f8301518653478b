import { type Logger, toError } from '@mesh/core'
import type { Channel } from '../p2p-node.ts'

/** Runs a handler on a channel that came in, and ends the channel with it. Never rejects. */
export async function serveChannel(
  channel: Channel,
  protocol: string,
  { handler, log }: { readonly handler: (channel: Channel) => Promise<void>; readonly log: Logger },
): Promise<void> {
  try {
    await handler(channel)
    await channel.close()
  } catch (error) {
    log.debug('channel ended with an error', { peer: channel.peer, protocol, error: String(error) })
    channel.abort(toError(error))
  }
}
