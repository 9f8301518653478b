import type { ByteStream } from '../ports.ts'
import type { AcceptComponents } from '../wire/accept.ts'

/** Takes a place for a legacy member's stream and gives what frees it; resets the stream, undefined, where all are taken. */
export function takeLegacyPlace(
  stream: ByteStream,
  { connections, network, refusals }: Pick<AcceptComponents, 'connections' | 'network' | 'refusals'>,
): (() => void) | undefined {
  const { peer } = stream
  const end = () => stream.abort(new Error('others wait for a connection'))
  const release = connections.reserve({ peer, address: network.addressOf(peer) ?? '', end })?.release
  if (release !== undefined) return release
  refusals.refuse('legacy.busy', peer, 'too many connections at a time')
  stream.abort(new Error('too many connections'))
  return undefined
}
