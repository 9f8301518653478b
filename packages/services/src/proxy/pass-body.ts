/**
 * Passes the body of an answer on to a client, or that of a member's request on to an origin. Either may come in chunks of one
 * byte, and go to who does not read: Node would keep each of them apart, and take 64 KiB of them, which is a hundred times as
 * much in memory. So what comes together goes on together, and while the receiver does not read, nothing more is brought.
 */
import type { IncomingMessage, OutgoingMessage } from 'node:http'
import { LARGE_PIECE_BYTES } from '../limits.ts'
import { setHeld } from '../streams/held-socket.ts'

/**
 * Ends one message with the other.
 * @param from with nothing read of it; no request that came on a socket of this machine
 * @param mostPieces in how many pieces at once it may come; of more its connection ends
 */
export function passBody(
  from: IncomingMessage,
  to: OutgoingMessage,
  mostPieces = Number.POSITIVE_INFINITY,
): void {
  const { socket } = from
  let pieces: Uint8Array[] = []
  let isQueued = false
  let isFull = false
  const write = (bytes: Uint8Array) => {
    if (to.write(bytes)) return
    isFull = true
    setHeld(socket, true)
  }
  const flush = () => {
    isQueued = false
    if (pieces.length === 0 || to.destroyed) return
    const bytes = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces)
    pieces = isFull ? [bytes] : []
    if (!isFull) write(bytes)
  }
  const onPiece = (piece: Buffer) => {
    if (pieces.length === 0 && !isFull && piece.byteLength >= LARGE_PIECE_BYTES) return write(piece)
    if (pieces.push(piece) > mostPieces) {
      from.off('data', onPiece).destroy(new Error('a body in too many pieces'))
      return
    }
    if (isQueued) return
    isQueued = true
    // after all that the parser reads of one block
    process.nextTick(flush)
  }
  from.on('data', onPiece)
  to.on('drain', () => {
    isFull = false
    flush()
    if (!isFull) setHeld(socket, false)
  })
  from.once('end', () => {
    isFull = false
    flush()
    setHeld(socket, false)
    to.end()
  })
}
