/**
 * Hands on the data of a muxer's frame as it comes. @libp2p/yamux 8.0.3 keeps what has come of a frame until it is whole,
 * and looks only then whether the stream's window had room for it: a frame that says to be 4 GiB long fills the memory.
 * A piece at a time each goes through the stream's own bounds.
 * Report to send: 'a data frame is buffered in whole before its window is checked; go-yamux checks first'.
 *
 * Reaches into `decoder.readFrame`; where it is missing frames come in whole. Without it `muxer-frames.test.ts` fails;
 * `npm run attack -- muxer-frames` sends such frames.
 */
import type { Uint8ArrayList } from 'uint8arraylist'

const HEADER_BYTES = 12
/** The type of frames with data; only these have a body. */
const DATA = 0
/** The flags that end a stream, which belong to the last piece of a frame. */
const [FIN, RST] = [4, 8]

interface Header {
  readonly type: number
  readonly flag: number
  readonly streamID: number
  readonly length: number
}

interface Frame {
  readonly header: Header
  readonly data?: Uint8ArrayList
}

interface Decoder {
  readonly buffer: Uint8ArrayList
  readFrame?: () => Frame | undefined
}

/** Has a muxer take a frame in pieces. */
export function readInPieces(muxer: object): void {
  const { decoder } = muxer as { readonly decoder?: Decoder }
  const readWhole = decoder?.readFrame?.bind(decoder)
  if (decoder === undefined || readWhole === undefined) return
  const { buffer } = decoder
  /** The frame of which something is missing, as the next piece is to be handed on. */
  let open: Header | undefined
  decoder.readFrame = () => {
    if (open === undefined) {
      // the library judges what is not data, and what is no frame
      if (buffer.byteLength < HEADER_BYTES || buffer.get(0) !== 0 || buffer.get(1) !== DATA)
        return readWhole()
      open = headerOf(buffer.subarray(0, HEADER_BYTES))
      buffer.consume(HEADER_BYTES)
    } else if (buffer.byteLength === 0) return undefined
    const { length, flag } = open
    const here = Math.min(length, buffer.byteLength)
    const data = buffer.sublist(0, here)
    buffer.consume(here)
    const piece = { ...open, length: here, flag: here < length ? flag & ~(FIN | RST) : flag }
    open = here < length ? { ...open, length: length - here, flag: flag & (FIN | RST) } : undefined
    return { header: piece, data }
  }
}

function headerOf(bytes: Uint8Array): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    type: view.getUint8(1),
    flag: view.getUint16(2),
    streamID: view.getUint32(4),
    length: view.getUint32(8),
  }
}
