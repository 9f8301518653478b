/** Members that tell a node of peers: over the exchange of peers, and to a legacy node by what the topic's mesh has for it. */
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { PeerRecord, RecordEnvelope } from '@libp2p/peer-record'
import type { Multiaddr } from '@multiformats/multiaddr'
import { framed, openStream, sendAll, varint } from './attackers.ts'
import { createSealing, gossipFrame, openGossip } from './gossip.ts'
import { connectMember } from './membership.ts'
import type { Attack } from './scenario.ts'

export const PEERS = '/mesh/peers/1'
/** As many peers as a legacy node takes from one message that prunes. */
const PRUNED = 16

/** A peer that is told of: its id, and what it says of where it is, signed. */
export interface Told {
  readonly id: Uint8Array
  readonly record: Uint8Array
}

export interface Telling {
  readonly isOpen: () => boolean
  /** False when the stream has ended. */
  tell(peers: readonly Told[]): Promise<boolean>
}

/** A protobuf field with bytes. */
export const field = (number: number, bytes: Uint8Array) =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])

export async function toldOf(privateKey: PrivateKey, multiaddrs: Multiaddr[]): Promise<Told> {
  const peerId = peerIdFromPrivateKey(privateKey)
  const sealed = await RecordEnvelope.seal(new PeerRecord({ peerId, multiaddrs }), privateKey)
  return { id: peerId.toMultihash().bytes, record: sealed.marshal() }
}

/** Connects a fresh key that tells of others. @param from the address that it dials from */
export async function openTelling(attack: Attack, from?: string): Promise<Telling> {
  const { target, config, signal } = attack
  const { connection } = await connectMember(attack, from)
  const topicID = createSealing(config).topic()
  const isMesh = target.kind === 'mesh'
  const stream = isMesh
    ? await openStream(connection, PEERS, signal)
    : await openGossip(connection, [topicID], signal)
  return {
    isOpen: () => stream.status === 'open' && !signal.aborted,
    tell: async (peers) => await sendAll(stream, isMesh ? exchanged(peers) : pruned(topicID, peers), signal),
  }
}

const exchanged = (peers: readonly Told[]) =>
  framed(Buffer.concat(peers.map(({ record }) => field(1, record))))

/** Leaves the topic's mesh again and again, and names others to take part in it. */
function pruned(topicID: string, peers: readonly Told[]): Uint8Array {
  const prune = Array.from({ length: Math.ceil(peers.length / PRUNED) }, (_, at) => ({
    topicID,
    peers: peers
      .slice(at * PRUNED, (at + 1) * PRUNED)
      .map(({ id, record }) => ({ peerID: id, signedPeerRecord: record })),
  }))
  return gossipFrame({ control: { prune, graft: [], ihave: [], iwant: [], idontwant: [] } })
}
