/**
 * Refuses frames of gossip whose content would cost more than its bytes, before they are decoded. @libp2p/gossipsub 17.1.1
 * bounds the lists of a frame one by one, of which 256 kinds of lists may have 5,000 names each, and each of several
 * `control` fields anew; it keeps names of messages that a peer does not want however long they are, and an author's id
 * may hold as much beside the key as a frame does.
 * Report to send: 'decodeRpcLimits bound each list and not their sum; ids in IDONTWANT, and `from`, have no bound'.
 *
 * Reaches into `decodeRpc`; where it is missing frames are not looked at. Without it `rpc-bounds.test.ts` fails; `npm run
 * attack -- gossip-fields gossip-names long-authors` sends such frames.
 */
import { MAX_GOSSIP_ID_BYTES, MAX_RPC_FIELDS, MAX_SIGNER_BYTES } from './limits.ts'
import { hasShape, type MessageShape } from '../message-shape.ts'

const ID = { maxBytes: MAX_GOSSIP_ID_BYTES }
const SIGNER = { maxBytes: MAX_SIGNER_BYTES }
const NAMES: MessageShape = { 1: ID, 2: ID }

/** The content of a frame: subscriptions (1), messages (2) and control (3). */
const RPC_SHAPE: MessageShape = {
  1: { shape: { 2: ID } },
  // author (1), sequence number (3), topic (4), signature (5) and key (6); the data (2) has its own bound
  2: { shape: { 1: ID, 3: ID, 4: ID, 5: SIGNER, 6: SIGNER } },
  // IHAVE, IWANT, GRAFT, PRUNE and IDONTWANT
  3: {
    shape: {
      1: { shape: NAMES },
      2: { shape: NAMES },
      3: { shape: NAMES },
      4: { shape: { 1: ID, 2: { shape: { 1: ID } } } },
      5: { shape: NAMES },
    },
  },
}

interface Decoding {
  decodeRpc?: (bytes: Uint8Array) => unknown
}

/** Has `decodeRpc` throw for frames with too many fields, or too long names. */
export function boundRpc(pubsub: object): void {
  const decoding = pubsub as Decoding
  const decode = decoding.decodeRpc?.bind(pubsub)
  if (decode === undefined) return
  decoding.decodeRpc = (bytes) => {
    if (!hasShape(bytes, { shape: RPC_SHAPE, maxFields: MAX_RPC_FIELDS }))
      throw new Error('a frame of gossip with too many fields, or too long ones')
    return decode(bytes)
  }
}
