/**
 * A client's connection as the proxy's HTTP reads it. Node parses all that comes at once and waits as long as it likes, and its
 * own timeouts work only where it listens itself. Here one request is served after the other, what is behind it stays unread
 * but for one block, by which a client that leaves is seen, a head has its time, and what waits has a bound in all.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressGroup, type Clock, type LoopTurns, type SharedBytes, type WaitingBytes } from '@mesh/core'
import {
  IDLE_TUNNEL_MS,
  MAX_CLIENT_BEHIND_BYTES,
  MAX_WAITING_REQUESTS,
  PROXY_GREETING_MS,
  REQUEST_PIECE_BYTES,
} from '../limits.ts'
import { SocketStream } from '../streams/socket-stream.ts'
import { StreamDuplex } from '../streams/stream-duplex.ts'

/** The server, turns and bounds that the connections of all clients share. */
export interface SharedByHttpClients {
  readonly server: Server
  /** The turns in which requests are parsed. */
  readonly turns: LoopTurns
  readonly clock: Clock
  /** Bounds heads that are not whole, and what is unread behind requests. */
  readonly unread: SharedBytes
  /** The number of requests that were parsed and wait for the one before them. */
  readonly waiting: { count: number }
}

export class HttpClient {
  readonly #socket: Socket
  readonly #shared: SharedByHttpClients
  readonly #stream: SocketStream
  readonly #duplex: StreamDuplex
  readonly #counted: WaitingBytes
  readonly #waiting: (() => void)[] = []
  /** The request of which the head has come last. */
  #last: IncomingMessage | undefined
  #isBusy = false
  /** The bytes that came since the last request was over. */
  #headBytes = 0
  #cancel = () => {}
  #isAwaitingHead = false

  /** @param first what was read of it, which is not empty */
  constructor(socket: Socket, first: Uint8Array, shared: SharedByHttpClients) {
    this.#socket = socket
    this.#shared = shared
    this.#stream = new SocketStream(socket, (byteCount) => this.#comes(byteCount))
    this.#duplex = new StreamDuplex(this.#stream, {
      head: first,
      turns: shared.turns,
      pieceBytes: REQUEST_PIECE_BYTES,
    })
    this.#counted = {
      peer: '',
      address: addressGroup(socket.remoteAddress ?? ''),
      count: () => this.#unreadBytes(),
      end: (reason) => void this.#duplex.destroy(reason),
    }
    this.#duplex.on('error', () => {})
    socket.once('end', () => {
      if (this.#isBusy) this.#end('the client left')
    })
    // as Node ends a connection whose last answer has gone
    this.#duplex.once('finish', () => socket.destroySoon())
    this.#duplex.once('close', () => this.#close())
    this.#comes(first.byteLength)
  }

  /** A request on it is served, or waits for another one. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Serves a request when those before it are answered. */
  take(request: IncomingMessage, response: ServerResponse, serve: () => void): void {
    const begin = () => {
      response.once('close', () => this.#next())
      request.once('end', () => {
        // after whoever read the body, and would have more
        queueMicrotask(() => this.#isBusy && this.#duplex.setHeld(true))
      })
      serve()
    }
    if (!this.#isBusy) {
      this.#isBusy = true
      begin()
      return
    }
    this.#waiting.push(begin)
    if (++this.#shared.waiting.count > MAX_WAITING_REQUESTS) this.#end('too many requests wait')
  }

  /** The connection as Node's HTTP has it. */
  get duplex(): object {
    return this.#duplex
  }

  /** Has Node's HTTP read it. */
  read(): void {
    if (this.#duplex.destroyed) return
    this.#shared.server.emit('connection', this.#duplex)
    this.#holdBehindHeads()
  }

  /** Gives the connection back, paused, with what came and was not parsed; HTTP has nothing to do with it any more. */
  detach(): { readonly socket: Socket; readonly rest: Uint8Array } {
    const read: Uint8Array[] = []
    for (;;) {
      const bytes = this.#duplex.read() as Uint8Array | null
      if (bytes === null) break
      read.push(bytes)
    }
    const rest = Buffer.concat([...read, this.#duplex.takeKept()])
    this.#stream.detach()
    this.#duplex.destroy()
    return { socket: this.#socket, rest }
  }

  /**
   * Holds the rest behind a head until the request is answered, or its body is read. Reaches into Node's parser, as
   * `serve-legacy-egress.ts` does; where `onIncoming` is missing nothing is held.
   */
  #holdBehindHeads(): void {
    const { parser } = this.#duplex as {
      readonly parser?: { onIncoming?: ((request: IncomingMessage, ...rest: unknown[]) => number) | null }
    }
    const onIncoming = parser?.onIncoming
    if (parser == null || onIncoming == null) return
    parser.onIncoming = (request, ...rest) => {
      this.#last = request
      this.#headBytes = 0
      this.#isAwaitingHead = false
      this.#cancel()
      this.#duplex.setHeld(true)
      return onIncoming(request, ...rest)
    }
  }

  #comes(byteCount: number): void {
    const isBody = this.#last !== undefined && !this.#last.complete
    if (!this.#isBusy && !isBody) {
      this.#headBytes += byteCount
      if (!this.#isAwaitingHead) this.#awaitHead()
    }
    this.#shared.unread.count(this.#counted)
    // whether it is still there shows only while it is read
    const isTooMuch = this.#duplex.keptBytes + byteCount > MAX_CLIENT_BEHIND_BYTES
    if (this.#isBusy && !isBody && isTooMuch) this.#end('too much behind a request')
  }

  #unreadBytes(): number {
    if (this.#duplex.destroyed) return 0
    return this.#isBusy ? this.#duplex.keptBytes : this.#headBytes
  }

  #awaitHead(): void {
    this.#isAwaitingHead = true
    this.#endAfter(PROXY_GREETING_MS)
  }

  #endAfter(ms: number): void {
    this.#cancel()
    this.#cancel = this.#shared.clock.after(ms, () => this.#end('nothing more came in time'))
  }

  #next(): void {
    // an answer may have been the last one
    if (this.#duplex.destroyed || this.#duplex.writableEnded) return
    const begin = this.#waiting.shift()
    if (begin !== undefined) {
      this.#shared.waiting.count--
      begin()
      return
    }
    this.#isBusy = false
    this.#endAfter(IDLE_TUNNEL_MS)
    this.#duplex.setHeld(false)
  }

  #end(reason: string): void {
    this.#duplex.destroy(new Error(reason))
  }

  #close(): void {
    this.#cancel()
    this.#shared.waiting.count -= this.#waiting.length
    this.#waiting.length = 0
  }
}
