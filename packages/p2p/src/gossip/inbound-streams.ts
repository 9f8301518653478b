/**
 * The gossip streams that peers open to us: read one frame at a time, with backpressure, within bounds. A block of bytes
 * may hold hundreds of messages, in many frames or in one. They are handled one by one, in the time of the loop budget.
 */
import type { Connection, Stream } from '@libp2p/interface'
import { type Clock, toError } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { addressGroupOf } from '../addresses/address-group.ts'
import { LONG_MESSAGE_BYTES } from '../limits.ts'
import { FrameTooLongError, readFrames } from '../libp2p/frames.ts'
import type { Refusals } from '../refusals.ts'
import type { GossipInternals } from '../upstream/gossipsub/internals.ts'
import type { HeldBytes } from '../libp2p/held-bytes.ts'

/** An inbound stream and how it ended, if it did. */
export interface InboundStream {
  readonly stream: Stream
  readonly connection: Connection
  end: 'closed' | 'reset' | undefined
  /** Called when the stream ends. */
  onEnd: () => void
}

interface InboundStreamsInit {
  /** The longest gossip frame that is read; longer ones end the stream. */
  readonly maxFrameBytes: number
}

interface InboundStreamsComponents {
  readonly pubsub: GossipInternals
  readonly held: HeldBytes
  readonly refusals: Refusals
  readonly clock: Clock
}

/** The content of a frame, whose messages can be handled one by one. */
interface Rpc {
  readonly messages?: readonly unknown[]
}

/** Holds, by connection, the newest inbound stream and the one before it, which may still hold unread frames. */
export class InboundStreams {
  readonly #maxFrameBytes: number
  readonly #components: InboundStreamsComponents
  readonly #byConnection = new Map<string, readonly InboundStream[]>()
  readonly #stopping = new AbortController()

  constructor({ maxFrameBytes }: InboundStreamsInit, components: InboundStreamsComponents) {
    this.#maxFrameBytes = maxFrameBytes
    this.#components = components
  }

  /** Takes a new stream over and reads it; gives the one that came before it on the same connection. */
  take(stream: Stream, connection: Connection): InboundStream | undefined {
    const { pubsub } = this.#components
    const peer = connection.remotePeer.toString()
    const [previous, beforeThat] = this.#byConnection.get(connection.id) ?? []
    beforeThat?.stream.abort(new Error('too many gossip streams'))
    const current = watchEnd(stream, connection)
    this.#byConnection.set(connection.id, previous === undefined ? [current] : [current, previous])
    void pubsub.streamsInbound.get(peer)?.close()
    const handle = { close: () => closeOrReset(stream) }
    pubsub.streamsInbound.set(peer, handle)
    void this.#read(current).finally(() => {
      if (pubsub.streamsInbound.get(peer) === handle) pubsub.streamsInbound.delete(peer)
    })
    return previous
  }

  /** Notes a stream that gossipsub itself reads, since it came before this node took over. */
  note(stream: Stream, connection: Connection): void {
    this.#byConnection.set(connection.id, [watchEnd(stream, connection)])
  }

  forget(connection: Connection): void {
    this.#byConnection.delete(connection.id)
  }

  clear(): void {
    this.#byConnection.clear()
    this.#stopping.abort(new Error('this node stops'))
  }

  async #read(inbound: InboundStream): Promise<void> {
    const { stream, connection } = inbound
    const { refusals, held } = this.#components
    const from = { peer: connection.remotePeer.toString(), protocol: stream.protocol }
    try {
      const abort = (error: Error) => {
        refusals.refuse('topic.too_much_held', from)
        stream.abort(error)
      }
      const onHeld = held.track({ peer: from.peer, address: addressGroupOf(connection), abort })
      const frames = readFrames(stream, this.#maxFrameBytes, onHeld)
      while (await this.#takeFrame(frames, inbound, onHeld));
    } catch (error) {
      if (!(error instanceof FrameTooLongError)) return
      refusals.refuse('topic.bad_frame', from)
      stream.abort(error)
    }
  }

  /** Takes one frame, of which nothing is left when this returns: idle streams must not keep their last one. */
  async #takeFrame(
    frames: AsyncGenerator<Uint8Array>,
    inbound: InboundStream,
    onHeld: (bytes: number) => void,
  ): Promise<boolean> {
    const { pubsub, refusals } = this.#components
    const { remotePeer } = inbound.connection
    const { done, value } = await frames.next()
    if (done === true) return false
    if (value.byteLength >= LONG_MESSAGE_BYTES) onHeld(value.byteLength)
    try {
      const key = addressGroupOf(inbound.connection)
      const rpc = await this.#inTurn(key, async () => pubsub.decodeRpc(value) as Rpc)
      for (const part of partsOf(rpc))
        await this.#inTurn(key, async () => pubsub.handleReceivedRpc(remotePeer, part))
    } catch {
      if (this.#stopping.signal.aborted) return false
      const { protocol } = inbound.stream
      refusals.refuse('topic.bad_frame', { peer: remotePeer.toString(), protocol })
    }
    return true
  }

  /** Does work for an address in the time of the loop budget. Rejects when this node stops. */
  #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    return loopBudget(this.#components.clock).run('members', work, { key, signal: this.#stopping.signal })
  }
}

/** Cuts the content of a frame into parts of one message at most, in the same order. */
function partsOf(rpc: Rpc): readonly Rpc[] {
  const { messages = [] } = rpc
  if (messages.length <= 1) return [rpc]
  return [{ ...rpc, messages: [] }, ...messages.map((message) => ({ messages: [message] }))]
}

function watchEnd(stream: Stream, connection: Connection): InboundStream {
  const inbound: InboundStream = { stream, connection, end: undefined, onEnd: () => {} }
  const end = (how: 'closed' | 'reset') => {
    inbound.end ??= how
    inbound.onEnd()
  }
  stream.addEventListener('remoteCloseWrite', () => end('closed'), { once: true })
  stream.addEventListener('close', () => end(stream.status === 'reset' ? 'reset' : 'closed'), { once: true })
  return inbound
}

async function closeOrReset(stream: Stream): Promise<void> {
  try {
    await stream.close()
  } catch (error) {
    stream.abort(toError(error))
  }
}
