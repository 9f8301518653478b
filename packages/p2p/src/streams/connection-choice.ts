/** Which connection to a peer a new stream is opened on. */
import type { Connection, Libp2p } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { MeshError, type PeerId } from '@mesh/core'
import type { Membership } from '../membership/membership.ts'
import type { StreamRules } from './stream-admission.ts'

interface ConnectionChoiceComponents {
  readonly libp2p: Libp2p
  readonly membership: Membership
  /** Makes a connection to a peer that has none. */
  readonly connect: (peer: PeerId, signal: AbortSignal) => Promise<unknown>
}

/**
 * Gives the best open connection to the peer, or makes one.
 *
 * @throws MeshError `p2p.unreachable`, also when only a relayed connection stands and the rules take none
 */
export async function chooseConnection(
  components: ConnectionChoiceComponents,
  peer: PeerId,
  { rules, signal }: { readonly rules: Pick<StreamRules, 'relayed'>; readonly signal: AbortSignal },
): Promise<Connection> {
  const best = bestConnection(components, peer) ?? (await dial(components, peer, signal))
  if (best.direct || rules.relayed) return best
  throw new MeshError('p2p.unreachable', 'the peer can be reached over a relay only', { details: { peer } })
}

async function dial(
  components: ConnectionChoiceComponents,
  peer: PeerId,
  signal: AbortSignal,
): Promise<Connection> {
  let cause: unknown
  try {
    await components.connect(peer, signal)
    const made = bestConnection(components, peer)
    if (made !== undefined) return made
  } catch (error) {
    cause = error
  }
  throw new MeshError('p2p.unreachable', 'the peer cannot be reached', { cause, details: { peer } })
}

function bestConnection(
  { libp2p, membership }: ConnectionChoiceComponents,
  peer: PeerId,
): Connection | undefined {
  const rank = (connection: Connection) =>
    (connection.direct ? 4 : 0) +
    (membership.standing(connection) === 'proven' ? 2 : 0) +
    // the QUIC library loses short inbound streams
    (connection.remoteAddr.getComponents().some(({ name }) => name === 'quic-v1') ? 0 : 1)
  return libp2p
    .getConnections(peerIdFromString(peer))
    .filter((connection) => connection.status === 'open' && membership.standing(connection) !== 'refused')
    .sort((a, b) => rank(b) - rank(a))[0]
}
