/**
 * Frees what was encrypted as soon as it has gone out. Each block that is sent over an encrypted connection is made anew by
 * @libp2p/noise 17.0.3, and nobody uses it again once the system has it. Left to the collector such blocks waited for it by tens
 * of megabytes at 400 MB/s, as V8 counts them with a heap that hardly grows beside them, and the C library kept the pages.
 *
 * Memory that Node.js itself read a socket into is never freed so: Node 26.10 ends with `Cannot perform Construct on a
 * detached ArrayBuffer` when a TLS connection is read later on.
 *
 * Reaches into `encrypt` and `stream` of the encrypted connection, and into `socket` and `sendData` of the one over TCP
 * (@libp2p/tcp 11.0.28) beneath it; where these are missing, as over a circuit, nothing is freed early. Without it
 * `freed-blocks.test.ts` fails; `npm run attack -- member-interruptions` has a node send so much.
 */

/** The least length of a block that is freed early, in bytes: shorter ones cost the collector less. */
const LEAST_BLOCK_BYTES = 4_096

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
  const socket = stream?.socket
  if (encrypt === undefined || stream?.sendData === undefined || !isWrittenSocket(socket)) return
  const encrypted = new WeakSet<ArrayBufferLike>()
  noteEncrypted(top as Layer, encrypt.bind(top), encrypted)
  freeWritten(stream, socket, encrypted)
}

function noteEncrypted(
  layer: Layer,
  encrypt: (bytes: Blocks) => Blocks,
  encrypted: WeakSet<ArrayBufferLike>,
): void {
  layer.encrypt = (bytes) => {
    const blocks = encrypt(bytes)
    for (const block of blocks) if (isAllOfItsMemory(block)) encrypted.add(block.buffer)
    return blocks
  }
}

/** Writes as the library does, and frees each block when the system has it. */
function freeWritten(layer: Layer, socket: WrittenSocket, encrypted: WeakSet<ArrayBufferLike>): void {
  layer.sendData = (blocks) => {
    let [sentBytes, canSendMore] = [0, true]
    for (const block of blocks) {
      sentBytes += block.byteLength
      const isFreed = isAllOfItsMemory(block) && encrypted.has(block.buffer)
      canSendMore = isFreed ? socket.write(block, () => free(block)) : socket.write(block)
      if (!canSendMore) break
    }
    return { sentBytes, canSendMore }
  }
}

/** False for a short block, and for a part of memory that may hold others, too. */
function isAllOfItsMemory({ buffer, byteLength }: Uint8Array): boolean {
  return byteLength >= LEAST_BLOCK_BYTES && byteLength === buffer.byteLength
}

function free({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0)
}

function isWrittenSocket(socket: Partial<WrittenSocket> | undefined): socket is WrittenSocket {
  return typeof socket?.write === 'function'
}
