import type { Connection, Stream } from '@libp2p/interface'
import { type Clock, MeshError, type PeerId } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { addressGroupOf } from '../addresses/address-group.ts'
import type { HeldBytes } from '../libp2p/held-bytes.ts'
import { FrameTooLongError, readFrames, writeFrame } from '../libp2p/frames.ts'
import { SEND_STALL_MS } from './limits.ts'
import { CHANNEL_CLOSE_MS } from '../limits.ts'
import type { Channel } from '../p2p-node.ts'
import { closeWriting } from '../streams/close-stream.ts'
import { isLive } from '../streams/member-streams.ts'

interface ChannelInit {
  readonly stream: Stream
  readonly connection: Connection
  readonly peer: PeerId
  readonly maxMessageBytes: number
  readonly clock: Clock
  /** A message over the bound came; the channel is reset. */
  readonly onTooLong: () => void
  /** Bounds what unfinished messages hold. */
  readonly held: HeldBytes
}

/** A channel over one stream; the stream ends with it in every case. */
export function createChannel(init: ChannelInit): Channel {
  const { stream, connection, peer, maxMessageBytes, clock, held } = init
  let reading = false
  /** Something came from the other side, so it is done with negotiating the protocol. */
  let heard = false
  let cancelLinger = () => {}
  stream.addEventListener('close', () => cancelLinger())

  const closed = (cause?: unknown) =>
    new MeshError('p2p.channel_closed', 'the channel is closed', { cause, details: { peer } })

  const abort = (reason: Error) => {
    if (isLive(stream)) stream.abort(reason)
  }

  /** A closed channel that nobody reads any more must not wait for the other side for ever. */
  const linger = () => {
    cancelLinger()
    if (!isLive(stream)) return
    cancelLinger = clock.after(CHANNEL_CLOSE_MS, () => {
      if (!reading) abort(new Error('the other side did not close'))
    })
  }

  return {
    peer,
    address: addressGroupOf(connection),
    direct: connection.direct,
    async send(message) {
      if (message.byteLength > maxMessageBytes) {
        throw new MeshError('p2p.message_too_long', `a message of ${message.byteLength} bytes is too long`, {
          details: { peer, limit: maxMessageBytes },
        })
      }
      const cancelStall = clock.after(SEND_STALL_MS, () => abort(new Error('the peer takes nothing')))
      try {
        await writeFrame(stream, message)
      } catch (error) {
        throw closed(error)
      } finally {
        cancelStall()
      }
    },
    async *messages() {
      reading = true
      try {
        const address = addressGroupOf(connection)
        const onHeld = held.track({ peer, address, abort })
        const frames = readFrames(stream, maxMessageBytes, onHeld)
        for (;;) {
          let next: IteratorResult<Uint8Array> | undefined = await frames.next()
          if (next.done === true) break
          heard = true
          // one block of bytes may hold 65,536 messages
          const turn = loopBudget(clock).turn('members', { key: address })
          if (turn !== undefined) await turn
          yield next.value
          // an idle channel must not keep its last message
          next = undefined
        }
      } catch (error) {
        if (error instanceof FrameTooLongError) {
          init.onTooLong()
          abort(error)
          throw new MeshError('p2p.message_too_long', 'the peer sent a message over the bound', {
            cause: error,
            details: { peer, limit: maxMessageBytes },
          })
        }
        throw closed(error)
      } finally {
        reading = false
        if (stream.writeStatus !== 'writable') linger()
      }
    },
    async close() {
      await closeWriting(stream, { clock, heard })
      if (!reading) linger()
    },
    abort,
  }
}
