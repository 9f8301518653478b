import { type GossipsubOpts, type Message, StrictSign } from '@libp2p/gossipsub'
import type { RPC } from '@libp2p/gossipsub/message'
import type { NetworkConfig } from '@mesh/network'
import { MAX_TOPIC_BYTES_PER_PEER, MESH_PEER_BACKOFF_MS, OUTBOUND_SPARE_BYTES } from './limits.ts'

/** Gives the settings of the gossip topic: an idle network costs little, and a star loses nothing. */
export function gossipsubSettings(config: NetworkConfig): Partial<GossipsubOpts> {
  return {
    // fixed by docs/WIRE.md 3.1
    globalSignaturePolicy: StrictSign,
    msgIdFn: buildMessageId,
    // of a message that floods the topic each node gets several copies: the signature of the first is checked
    fastMsgIdFn: signatureText,
    allowPublishToZeroTopicPeers: true,
    fallbackToFloodsub: false,
    runOnLimitedConnection: true,
    maxInboundDataLength: maxFrameBytes(config),
    maxOutboundBufferSize: maxFrameBytes(config) + OUTBOUND_SPARE_BYTES,
    // whom to dial is the host's business
    directConnectTicks: Number.MAX_SAFE_INTEGER,

    // the topic floods while it is small or changing, and says so at each publication
    floodPublish: false,
    // hints of members' addresses are for members: `/mesh/peers/1` passes them on
    doPX: false,
    tagMeshPeers: false,

    // `topology.ts` picks the mesh, and a heartbeat adds peers only in an emergency. One mesh peer is enough for a leaf of a
    // star: a second one over the relay would bring everything twice
    D: 2,
    Dlo: 1,
    Dout: 0,
    // above every number of connections: a hub that prunes a leaf cuts it off
    Dhi: 1024,
    // a mesh peer that was given up may be wanted again
    unsubcribeBackoff: MESH_PEER_BACKOFF_MS,
    // who was missed is told at a heartbeat, and becomes a mesh peer
    Dlazy: 1,
    gossipFactor: 0,
    mcacheGossip: 1,
    // below that, saying that a message came costs what it saves
    idontwantMinDataSize: 16_384,
    heartbeatInterval: 3_000,

    // peers behind one NAT share an address, and a peer whose stream we replaced breaks promises
    scoreParams: { IPColocationFactorWeight: 0, behaviourPenaltyWeight: 0 },

    awaitRpcHandler: true,
    awaitRpcMessageHandler: true,
    maxTopicBytesPerPeer: MAX_TOPIC_BYTES_PER_PEER,
    decodeRpcLimits: {
      maxSubscriptions: 256,
      maxMessages: 1_000,
      maxIhaveMessageIDs: 5_000,
      maxIwantMessageIDs: 5_000,
      maxIdontwantMessageIDs: 512,
      maxControlMessages: 256,
      maxPeerInfos: 16,
    },
  }
}

/** Gives the longest gossip frame in bytes: one message of the greatest size and what carries it. */
export function maxFrameBytes(config: NetworkConfig): number {
  return config.maxMessageBytes
}

/** Builds a message's id: the author's multihash and the sequence number (docs/WIRE.md 3.1). */
export function buildMessageId(message: Message): Uint8Array {
  if (message.type !== 'signed') throw new Error('every message is signed here')
  const author = message.from.toMultihash().bytes
  const id = new Uint8Array(author.length + 8)
  id.set(author)
  new DataView(id.buffer).setBigUint64(author.length, message.sequenceNumber)
  return id
}

const latin1 = new TextDecoder('latin1')

/** Gives the id that copies of a message share. Of a checked one other content with its signature is dropped. */
function signatureText({ signature }: RPC.Message): string {
  return latin1.decode(signature)
}
