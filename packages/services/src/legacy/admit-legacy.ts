import { BUCKETS, type PeerId } from '@mesh/core'
import { type AdmitComponents, admitUser, isUser } from '../users/admit-user.ts'
import type { ByteStream } from '../ports.ts'
import { type AcceptComponents, RequestRefused } from '../wire/accept.ts'

const NO_ENTRIES = new Uint8Array()

/**
 * Legacy members must stand in `users`, too. Some of their commands (`proxy`, `start`) never write a heartbeat, so
 * for them an entry that they signed counts without one: that they are alive shows in their connecting.
 * @throws RequestRefused
 */
export async function admitLegacyUser(peer: PeerId, components: AdmitComponents): Promise<void> {
  const { ledger } = components
  const isAdmitted = () => {
    const snapshot = ledger.snapshot()
    const hasHeartbeat = snapshot.getLive(BUCKETS.healthcheck, peer) !== undefined
    return (
      isUser(peer, components) || (!hasHeartbeat && snapshot.getLive(BUCKETS.users, peer)?.owner === peer)
    )
  }
  const reason = await admitUser({ peer, entries: NO_ENTRIES, isAdmitted }, components)
  if (reason !== undefined) throw new RequestRefused('not_user', reason)
}

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
