/**
 * Bounds what waits to be written to local sockets that are not read. A socket counts the bytes alone. Pieces of one byte
 * take a hundred times as much. A small view keeps in memory the whole block that it is a part of.
 */
import type { Socket } from 'node:net'
import { copyOf, isSmallPart, type PeerId } from '@mesh/core'
import { type Place, Scope } from '@mesh/core/limits'
import {
  FULL_CHUNK_BYTES,
  LEAST_PIECE_BYTES,
  LOCAL_UNWRITTEN_BYTES,
  MUCH_UNWRITTEN_BYTES,
  SERVED_UNWRITTEN_BYTES,
  SOCKET_BUFFER_BYTES,
} from '../limits.ts'
import type { ByteStream, ServicesNetwork } from '../ports.ts'

/** The bytes that wait, apart for both sides: members that are served take nothing from this node's own clients. */
export interface Unwritten {
  /** Bytes for the targets of services and of egress, of all members together. */
  readonly served: Scope
  /** Bytes for the local clients of services and of the proxy. */
  readonly local: Scope
}

/** Creates the bounds of one node. */
export function createUnwritten(): Unwritten {
  return { served: new Scope(SERVED_UNWRITTEN_BYTES), local: new Scope(LOCAL_UNWRITTEN_BYTES) }
}

/** The bound that many connections share, and where one of them counts. */
export interface SharedUnwritten {
  readonly unwritten: Scope
  /** The address that the peer comes from. */
  readonly address: string
}

/** The bound for a socket that is joined with a peer's stream. */
export function sharedBy(
  unwritten: Scope,
  { peer }: Pick<ByteStream, 'peer'>,
  network: Pick<ServicesNetwork, 'addressOf'>,
): SharedUnwritten {
  return { unwritten, address: network.addressOf(peer) ?? '' }
}

interface SocketWriterInit extends SharedUnwritten {
  readonly peer: PeerId
  /** Ends the connection, when all of them leave too much waiting. */
  readonly end: (reason: Error) => void
}

/** Writes to one socket, and counts what waits there for what it takes in memory. */
export class SocketWriter {
  readonly #socket: Socket
  readonly #init: SocketWriterInit
  readonly #place: Place | undefined
  /** The number of bytes that the pieces which wait take beside their own. */
  #overhead = 0

  constructor(socket: Socket, init: SocketWriterInit) {
    this.#socket = socket
    this.#init = init
    const { unwritten, peer, address, end } = init
    this.#place = unwritten.reserve({ peer, address, size: 0, end })
    socket.once('close', () => this.#place?.release())
  }

  /** True while so much waits that no more should come. */
  get isFull(): boolean {
    const isMuch = this.#init.unwritten.total > MUCH_UNWRITTEN_BYTES
    return this.#waitingBytes > (isMuch ? 0 : SOCKET_BUFFER_BYTES)
  }

  get #waitingBytes(): number {
    const { destroyed, writableLength } = this.#socket
    if (destroyed || writableLength === 0) return 0
    return writableLength + this.#overhead
  }

  /** Writes bytes, which are the socket's from here on. */
  write(bytes: Uint8Array): void {
    const { byteLength } = bytes
    if (this.#socket.writableLength === 0) this.#overhead = 0
    this.#overhead += Math.max(0, LEAST_PIECE_BYTES - byteLength)
    this.#socket.write(this.#isToBeCopied(bytes) ? copyOf(bytes) : bytes, this.#count)
    this.#count()
  }

  readonly #count = (): void => {
    if (this.#socket.destroyed) return
    if (this.#place?.resize(this.#waitingBytes) === false)
      this.#init.end(new Error('too much waits to be read'))
  }

  /** Full chunks of one turn wait only for its end, to leave together: a copy of each would cost a fifth of the throughput. */
  #isToBeCopied(bytes: Uint8Array): boolean {
    const { writableLength } = this.#socket
    const waits = writableLength > (bytes.byteLength < FULL_CHUNK_BYTES ? 0 : SOCKET_BUFFER_BYTES)
    return waits && isSmallPart(bytes)
  }
}
