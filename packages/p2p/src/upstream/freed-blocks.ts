/**
 * Frees what goes out as soon as it has gone. Each block that is sent over an encrypted connection is made anew by
 * @libp2p/noise 17.0.3, and nobody uses it again once the system has it; nor is what it was made of used again where that
 * was handed over. Left to the collector both waited for it by tens of megabytes, and the C library kept the pages.
 *
 * Reaches into `encrypt` and `stream` of the encrypted connection, and into `socket` and `sendData` of the one over TCP
 * (@libp2p/tcp 11.0.28) beneath it; where these are missing nothing is freed early. Without it `freed-blocks.test.ts` fails;
 * `npm run attack -- member-interruptions` has a node send so much.
 */
import { isTransferred, releaseBlock, transferBlock } from '../transferred-blocks.ts'

type Blocks = Iterable<Uint8Array>

/** A connection, or what was laid over one. */
interface Layer {
  readonly stream?: Layer
  readonly socket?: Partial<WrittenSocket>
  encrypt?(bytes: Blocks): Blocks
  sendData?(blocks: Blocks): { readonly sentBytes: number; readonly canSendMore: boolean }
}

interface WrittenSocket {
  write(bytes: Uint8Array, written?: () => void): boolean
}

/** Frees what goes out over a connection; `top` is what the muxer was given. */
export function freeSentBlocks(top: object): void {
  const { encrypt, stream } = top as Layer
  if (encrypt === undefined || stream === undefined) return
  freeEncrypted(top as Layer, encrypt.bind(top))
  const { socket } = stream
  if (stream.sendData !== undefined && isWrittenSocket(socket)) freeWritten(stream, socket)
}

/** Frees what was encrypted, which is not used again, and hands over what it became, which the connection beneath alone uses. */
function freeEncrypted(layer: Layer, encrypt: (bytes: Blocks) => Blocks): void {
  layer.encrypt = (bytes) => {
    const encrypted = encrypt(bytes)
    for (const block of bytes) releaseBlock(block)
    for (const block of encrypted) transferBlock(block)
    return encrypted
  }
}

/** Writes as the library does, and frees each block when the system has it. */
function freeWritten(layer: Layer, socket: WrittenSocket): void {
  layer.sendData = (blocks) => {
    let [sentBytes, canSendMore] = [0, true]
    for (const block of blocks) {
      sentBytes += block.byteLength
      canSendMore = isTransferred(block)
        ? socket.write(block, () => releaseBlock(block))
        : socket.write(block)
      if (!canSendMore) break
    }
    return { sentBytes, canSendMore }
  }
}

function isWrittenSocket(socket: Partial<WrittenSocket> | undefined): socket is WrittenSocket {
  return typeof socket?.write === 'function'
}
