/**
 * Passes a body on to a client or an origin. The body may come in chunks of one byte, for a receiver that does not read. Node
 * would keep each chunk apart, at a hundred times the memory. Therefore chunks that came together go on together, and
 * nothing more is read while the receiver does not read.
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
