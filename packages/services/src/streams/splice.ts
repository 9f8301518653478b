/**
 * Joins a socket and a stream. Each direction for itself: bytes as they come, slowed down by whoever reads slowly, then
 * its end. What breaks one of the two breaks the other one, so that a reset arrives as a reset. Bytes are not copied:
 * chunks of the socket are the stream's from `send` on, and those of the stream the socket's.
 */
import type { Socket } from 'node:net'
import { endOfTurn } from '@mesh/core/limits'
import { FULL_CHUNK_BYTES } from '../limits.ts'
import type { ByteStream } from '../ports.ts'
import { handOn, pauseReading, readOn } from './read-sockets.ts'
import { type SharedUnwritten, SocketWriter } from './unwritten.ts'

const NOTHING = new Uint8Array(0)

/** Bytes that went over, for the status; counted up in place. */
export interface Traffic {
  /** The number of bytes that came from the mesh. */
  bytesIn: number
  /** The number of bytes that went to the mesh. */
  bytesOut: number
}

export interface SpliceInit {
  readonly traffic: Traffic
  /** Bytes that came from the stream before it was joined. */
  readonly head?: Uint8Array
  /** Bounds what waits for this socket and others. */
  readonly shared: SharedUnwritten
  /** Called once, when both directions are over, with the error that broke them where there was one. */
  readonly onDone: (error: Error | undefined) => void
}

/** @param socket with `allowHalfOpen`; paused where nothing of it is to wait here @param stream with `halfClose`; may be paused */
export function splice(socket: Socket, stream: ByteStream, init: SpliceInit): void {
  const { traffic, head, shared, onDone } = init
  let streamIsOver = false
  let socketIsOver = false
  let error: Error | undefined
  const finish = () => {
    if (streamIsOver && socketIsOver) onDone(error)
  }

  socket.on('data', (chunk: Buffer) => {
    traffic.bytesOut += chunk.byteLength
    handOn(socket, () => stream.send(chunk))
  })
  socket.on('end', () => stream.end())
  socket.on('drain', () => stream.resume())
  socket.on('error', (reason) => {
    error ??= reason
  })
  socket.on('close', () => {
    socketIsOver = true
    pauseReading(socket)
    // closed before both directions had ended: by an error, or because this node stops
    if (!streamIsOver && !(socket.readableEnded && socket.writableFinished)) {
      error ??= new Error('the local connection was closed')
      stream.abort(error)
    }
    finish()
  })

  const coalesce = createCoalescer(socket)
  const writer = new SocketWriter(socket, {
    ...shared,
    peer: stream.peer,
    end(reason) {
      stream.abort(reason)
      reset(socket)
    },
  })
  const write = (bytes: Uint8Array) => {
    traffic.bytesIn += bytes.byteLength
    if (!socket.writable) return
    coalesce(bytes)
    writer.write(bytes)
    if (!writer.isFull) return
    stream.pause()
    // a socket that holds less than its mark tells no 'drain'
    if (!socket.writableNeedDrain) socket.write(NOTHING, () => writer.isFull || stream.resume())
  }
  stream.onDrain(() => readOn(socket))
  stream.onRemoteEnd(() => socket.end())
  stream.onEnd((reason) => {
    streamIsOver = true
    error ??= reason
    if (reason !== undefined) reset(socket)
    // what it still sends has nobody to go to: once it has what waits for it, it is closed, whether it ends or not
    else socket.destroySoon()
    finish()
  })
  if (head !== undefined && head.byteLength > 0) write(head)
  stream.onBytes(write)
  stream.resume()
  // it may have ended before it was joined
  if (socket.readableEnded) stream.end()
  // where the stream has no room what is read would wait here, a block of each socket; `onDrain` follows
  if (stream.send(NOTHING)) readOn(socket)
}

/**
 * Joins as `splice` does, and resolves when both directions are over.
 * @param init.open holds what ends the connection meanwhile
 */
export function spliceToEnd(
  socket: Socket,
  stream: ByteStream,
  { open, ...init }: Omit<SpliceInit, 'onDone'> & { readonly open: Set<(reason: Error) => void> },
): Promise<void> {
  const end = () => reset(socket)
  open.add(end)
  return new Promise((resolve) => {
    const onDone = () => {
      open.delete(end)
      resolve()
    }
    splice(socket, stream, { ...init, onDone })
  })
}

/** Gathers what comes in full TLS records, several at a time: these are written by one system call. */
function createCoalescer(socket: Socket): (bytes: Uint8Array) => void {
  let isCorked = false
  const uncork = () => {
    isCorked = false
    socket.uncork()
  }
  return ({ byteLength }) => {
    if (isCorked || byteLength < FULL_CHUNK_BYTES) return
    isCorked = true
    socket.cork()
    // after all that this turn of the event loop reads
    endOfTurn(uncork)
  }
}

/**
 * Resets a TCP connection, and closes a unix socket, which knows no reset. A socket whose end is on its way is closed too: libuv
 * cannot reset it (`uv_tcp_close_reset` gives EINVAL), and Node would leave it open.
 */
export function reset(socket: Socket): void {
  if (socket.destroyed) return
  if (socket.writableEnded && !socket.writableFinished) {
    socket.destroy()
    return
  }
  try {
    socket.resetAndDestroy()
  } catch {
    socket.destroy()
  }
}
