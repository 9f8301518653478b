/**
 * One frame for all peers that a message goes to. @libp2p/gossipsub 17.1.1 encodes a message anew for each of them, so
 * that a message of 300 KiB for 24 peers who read slowly takes 7 MB; its `batchPublish` shares the frame of what a node
 * says itself, and not of what it passes on, nor when a peer is left out.
 * Report to send: `forwardMessage` could encode once where nothing rides along, as `sendRpcInBatch` does.
 *
 * Reaches into `sendRpc`; where that is missing each peer has its own frame. Without it `shared-frames.test.ts` fails.
 */
import { RPC } from '@libp2p/gossipsub/message'
import { Uint8ArrayList } from 'uint8arraylist'
import { encodePrefix } from '../length-prefix.ts'

interface Sending {
  readonly streamsOutbound: ReadonlyMap<string, { pushPrefixed(frame: Uint8ArrayList): void }>
  /** Waits to ride along with the next message to a peer. */
  readonly control?: ReadonlyMap<string, unknown>
  readonly gossip?: ReadonlyMap<string, unknown>
  sendRpc?(peer: string, rpc: RPC): boolean
}

export function shareFrames(pubsub: object): void {
  const sending = pubsub as Sending
  const { streamsOutbound, control, gossip } = sending
  const sendRpc = sending.sendRpc?.bind(sending)
  if (sendRpc === undefined || control === undefined || gossip === undefined) return
  const frames = new WeakMap<RPC.Message, Uint8ArrayList>()
  sending.sendRpc = (peer, rpc) => {
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
