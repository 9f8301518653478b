/** A local socket in the form of a stream, for what is written for those. */
import type { Socket } from 'node:net'
import type { ByteStream } from '../ports.ts'
import { handOn, pauseReading, readOn } from './read-sockets.ts'
import { reset } from './splice.ts'

export class SocketStream implements Omit<ByteStream, 'peer' | 'direct' | 'transport'> {
  readonly #socket: Socket
  readonly #onCome: (byteCount: number) => void
  #isPaused = false
  #isDetached = false
  #onData: ((chunk: Buffer) => void) | undefined

  /**
   * @param socket paused
   * @param onCome called before a block of bytes is handed on, which it is not where the socket is destroyed then
   */
  constructor(socket: Socket, onCome: (byteCount: number) => void) {
    this.#socket = socket
    this.#onCome = onCome
  }

  send(bytes: Uint8Array): boolean {
    return this.#socket.write(bytes)
  }

  onDrain(listener: () => void): void {
    this.#socket.on('drain', listener)
  }

  onBytes(listener: (bytes: Uint8Array) => void): void {
    const socket = this.#socket
    this.#onData = (chunk) =>
      handOn(socket, () => {
        this.#onCome(chunk.byteLength)
        if (!socket.destroyed) listener(chunk)
        return !this.#isPaused
      })
    socket.on('data', this.#onData)
    readOn(socket)
  }

  onEnd(listener: (error: Error | undefined) => void): void {
    this.#socket.once('close', () => {
      if (!this.#isDetached) listener(new Error('the connection was closed'))
    })
  }

  onRemoteEnd(listener: () => void): void {
    this.#socket.once('end', () => {
      if (!this.#isDetached) listener()
    })
  }

  end(): void {
    if (!this.#isDetached) this.#socket.end()
  }

  /** One block more comes, so that the end of the connection is seen: it shows only while a socket is read. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isDetached && this.#socket.isPaused()) readOn(this.#socket)
  }

  close(): void {
    if (!this.#isDetached) this.#socket.destroySoon()
  }

  abort(): void {
    if (!this.#isDetached) reset(this.#socket)
  }

  /** Leaves the socket to somebody else, paused. */
  detach(): void {
    this.#isDetached = true
    if (this.#onData !== undefined) this.#socket.off('data', this.#onData)
    pauseReading(this.#socket)
  }
}
