/**
 * Bounds what waits to be written to local sockets that are not read. A socket counts the bytes alone: pieces of one byte
 * take a hundred times as much, and a small view keeps the whole block in memory that it is a part of.
 */
import type { Socket } from 'node:net'
import { addressGroup, type Clock, copyOf, isSmallPart, SharedBytes } from '@mesh/core'
import {
  FULL_CHUNK_BYTES,
  LEAST_PIECE_BYTES,
  MAX_LOCAL_UNWRITTEN_BYTES,
  MAX_UNWRITTEN_BYTES,
  SOCKET_BUFFER_BYTES,
} from '../limits.ts'
import type { ByteStream, ServicesNetwork } from '../ports.ts'

/** The bounds that connections share, apart for both sides: who is served here takes nothing from this node's own clients. */
export interface Unwritten {
  /** The bound on what waits for the targets of services and of egress, of all members together. */
  readonly served: SharedBytes
  /** The bound on what waits for the local clients of services and of the proxy. */
  readonly local: SharedBytes
}

/** Creates the bounds of one node. */
export function createUnwritten(clock: Pick<Clock, 'after'>): Unwritten {
  return {
    served: new SharedBytes(MAX_UNWRITTEN_BYTES, clock),
    local: new SharedBytes(MAX_LOCAL_UNWRITTEN_BYTES, clock),
  }
}

/** The bound that many connections share, and where one of them counts. */
export interface SharedUnwritten {
  readonly unwritten: SharedBytes
  /** The group of addresses that the peer comes from. */
  readonly address: string
}

/** The bound for a local client that is joined with a stream to a provider. */
export function sharedByClients(
  { peer }: Pick<ByteStream, 'peer'>,
  {
    unwritten,
    network,
  }: { readonly unwritten: Unwritten; readonly network: Pick<ServicesNetwork, 'addressOf'> },
): SharedUnwritten {
  return { unwritten: unwritten.local, address: addressGroup(network.addressOf(peer) ?? '') }
}

/** Writes to one socket, and counts what waits there for what it takes in memory. */
export class SocketWriter {
  readonly #socket: Socket
  /** The number of bytes that the pieces which wait take beside their own. */
  #overhead = 0

  constructor(socket: Socket) {
    this.#socket = socket
  }

  get waitingBytes(): number {
    const { destroyed, writableLength } = this.#socket
    if (destroyed || writableLength === 0) return 0
    return writableLength + this.#overhead
  }

  /** Writes bytes, which are the socket's from here on. */
  write(bytes: Uint8Array): void {
    const { byteLength } = bytes
    if (this.#socket.writableLength === 0) this.#overhead = 0
    this.#overhead += Math.max(0, LEAST_PIECE_BYTES - byteLength)
    this.#socket.write(this.#isToBeCopied(bytes) ? copyOf(bytes) : bytes)
  }

  /** Full chunks of one turn wait only for its end, to leave together: a copy of each would cost a fifth of the throughput. */
  #isToBeCopied(bytes: Uint8Array): boolean {
    const { writableLength } = this.#socket
    const waits = writableLength > (bytes.byteLength < FULL_CHUNK_BYTES ? 0 : SOCKET_BUFFER_BYTES)
    return waits && isSmallPart(bytes)
  }
}
