/**
 * Sends one frame to all peers that a message goes to.
 *
 * @library @libp2p/gossipsub 17.1.1
 * @wraps `sendRpc`
 * @without Memory grows past its bound: the library encodes a message anew for each peer, and what slow peers have not read yet
 * takes as many copies.
 * @shown `upstream/gossipsub/shared-frames.test.ts`
 */
import { RPC } from '@libp2p/gossipsub/message'
import { Uint8ArrayList } from 'uint8arraylist'
import { encodePrefix } from '../../length-prefix.ts'
import type { GossipInternals } from './internals.ts'

type Sending = Pick<GossipInternals, 'streamsOutbound' | 'control' | 'gossip' | 'sendRpc'>

export function shareFrames(pubsub: Sending): void {
  const { streamsOutbound, control, gossip } = pubsub
  const sendRpc = pubsub.sendRpc.bind(pubsub)
  const frames = new WeakMap<RPC.Message, Uint8ArrayList>()
  pubsub.sendRpc = (peer, rpc) => {
    const stream = streamsOutbound.get(peer)
    const message = messageAlone(rpc)
    if (stream === undefined || message === undefined || control.has(peer) || gossip.has(peer))
      return sendRpc(peer, rpc)
    const frame = frames.get(message) ?? encodeFrame(rpc)
    frames.set(message, frame)
    try {
      stream.pushPrefixed(frame)
      return true
    } catch {
      // the stream is closed, or its peer takes nothing
      return false
    }
  }
}

/** The message of what has nothing but it. */
function messageAlone({ subscriptions, messages, control }: RPC): RPC.Message | undefined {
  const [message] = messages
  return subscriptions.length === 0 && messages.length === 1 && control === undefined ? message : undefined
}

function encodeFrame(rpc: RPC): Uint8ArrayList {
  const bytes = RPC.encode(rpc)
  return new Uint8ArrayList(encodePrefix(bytes.byteLength), bytes)
}
