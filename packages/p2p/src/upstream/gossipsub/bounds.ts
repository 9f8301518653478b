/**
 * Bounds what one frame of gossip may name, and how many bytes of messages are kept for peers that ask for them later.
 *
 * @library @libp2p/gossipsub 17.1.1
 * @wraps `decodeRpc`, `mcache`
 * @without Memory grows past its bound: a frame may have any number of lists and names of any length, and the library keeps each
 * message for five heartbeats, however long it is.
 * @shown `upstream/gossipsub/rpc-bounds.test.ts`, `upstream/gossipsub/message-cache.test.ts`, `npm run attack -- gossip-fields
 * gossip-names long-authors`
 */
import { copyOf, isSmallPart } from '@mesh/core'
import { MAX_GOSSIP_ID_BYTES, MAX_RPC_FIELDS, MAX_SIGNER_BYTES } from '../limits.ts'
import { hasShape, type MessageShape } from '../../message-shape.ts'
import type { CachedMessage, GossipInternals } from './internals.ts'

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

/** Has `decodeRpc` throw for frames with too many fields, or too long names. */
export function boundRpc(pubsub: Pick<GossipInternals, 'decodeRpc'>): void {
  const decode = pubsub.decodeRpc.bind(pubsub)
  pubsub.decodeRpc = (bytes) => {
    if (!hasShape(bytes, { shape: RPC_SHAPE, maxFields: MAX_RPC_FIELDS }))
      throw new Error('a frame of gossip with too many fields, or too long ones')
    return decode(bytes)
  }
}

/** Keeps no message that would bring what is kept over so many bytes. A peer that misses it compares ledgers. */
export function boundMessageCache({ mcache }: Pick<GossipInternals, 'mcache'>, mostBytes: number): void {
  const [put, shift] = [mcache.put.bind(mcache), mcache.shift.bind(mcache)]
  let bytes = 0
  mcache.put = (id, message, validated) => {
    const length = message.data?.length ?? 0
    if (bytes + length > mostBytes) return false
    const isNew = put(id, ofItsOwn(message), validated)
    if (isNew) bytes += length
    return isNew
  }
  mcache.shift = () => {
    shift()
    bytes = 0
    for (const { message } of mcache.msgs.values()) bytes += message.data?.length ?? 0
  }
}

/** The message with bytes of its own where they are a small part of a frame: it would keep all of the frame. */
function ofItsOwn(message: CachedMessage): CachedMessage {
  if (message.data === undefined || !isSmallPart(message.data)) return message
  const copied = Object.entries(message).map(([name, value]: [string, unknown]) => [
    name,
    value instanceof Uint8Array ? copyOf(value) : value,
  ])
  return Object.fromEntries(copied) as CachedMessage
}
