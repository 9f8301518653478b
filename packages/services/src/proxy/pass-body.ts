/**
 * Passes the body of an answer on to a client. An origin may send it in chunks of one byte, and a client need not read: Node
 * would keep each of them apart, and take 64 KiB of them, which is a hundred times as much in memory. So what comes together
 * goes on together, and while the client does not read, the tunnel brings nothing.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LARGE_PIECE_BYTES } from '../limits.ts'
import { StreamDuplex } from '../streams/stream-duplex.ts'

/** Ends the response with the answer. @param answer with nothing read of it */
export function passBody(answer: IncomingMessage, response: ServerResponse): void {
  const tunnel: unknown = answer.socket
  const setHeld = (isHeld: boolean) => tunnel instanceof StreamDuplex && tunnel.setHeld(isHeld)
  let pieces: Uint8Array[] = []
  let isQueued = false
  let isFull = false
  const write = (bytes: Uint8Array) => {
    if (response.write(bytes)) return
    isFull = true
    setHeld(true)
  }
  const flush = () => {
    isQueued = false
    if (pieces.length === 0 || response.destroyed) return
    const bytes = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces)
    pieces = isFull ? [bytes] : []
    if (!isFull) write(bytes)
  }
  answer.on('data', (piece: Buffer) => {
    if (pieces.length === 0 && !isFull && piece.byteLength >= LARGE_PIECE_BYTES) return write(piece)
    pieces.push(piece)
    if (isQueued) return
    isQueued = true
    // after all that the parser reads of one block
    process.nextTick(flush)
  })
  response.on('drain', () => {
    isFull = false
    flush()
    if (!isFull) setHeld(false)
  })
  answer.once('end', () => {
    isFull = false
    flush()
    setHeld(false)
    response.end()
  })
}
