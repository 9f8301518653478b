/**
 * A client's connection as the proxy's HTTP reads it. Node parses all that has come at once, and its own timeouts work only
 * where it listens itself. Here requests are served one after the other. What is behind a request stays unread, but for
 * one block, which shows when a client leaves. A head has a time limit, and unread bytes have a bound.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '@mesh/core'
import { loopBudget, type Place, type Scope } from '@mesh/core/limits'
import { IDLE_TUNNEL_MS, MAX_CLIENT_BEHIND_BYTES, PROXY_GREETING_MS } from '../limits.ts'
import { SocketStream } from '../streams/socket-stream.ts'
import { StreamDuplex } from '../streams/stream-duplex.ts'

/** State that the connections of all clients share. */
export interface SharedByHttpClients {
  readonly server: Server
  readonly clock: Clock
  /** Bounds heads that are not whole, and what is unread behind requests. */
  readonly unread: Scope
}

export class HttpClient {
  readonly #socket: Socket
  readonly #shared: SharedByHttpClients
  readonly #stream: SocketStream
  readonly #duplex: StreamDuplex
  readonly #place: Place | undefined
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
      budget: loopBudget(shared.clock),
      bringsRequests: true,
    })
    const address = socket.remoteAddress ?? ''
    const end = (reason: Error) => void this.#duplex.destroy(reason)
    this.#place = shared.unread.reserve({ address, size: 0, end })
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

  /** Serves a request when those before it are answered. Call it at once: it holds what is behind the head. */
  take(request: IncomingMessage, response: ServerResponse, serve: () => void): void {
    this.holdBehind(request)
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
  }

  /** Holds the rest behind a head until the request is answered, or its body is read. */
  holdBehind(request: IncomingMessage): void {
    this.#last = request
    this.#headBytes = 0
    this.#isAwaitingHead = false
    this.#cancel()
    this.#duplex.setHeld(true)
    this.#count()
  }

  /** The connection as Node's HTTP has it. */
  get duplex(): object {
    return this.#duplex
  }

  /** Has Node's HTTP read it. */
  read(): void {
    if (this.#duplex.destroyed) return
    this.#shared.server.emit('connection', this.#duplex)
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

  #comes(byteCount: number): void {
    const isBody = this.#last !== undefined && !this.#last.complete
    if (!this.#isBusy && !isBody) {
      this.#headBytes += byteCount
      if (!this.#isAwaitingHead) this.#awaitHead()
    }
    this.#count()
    // whether it is still there shows only while it is read
    const isTooMuch = this.#duplex.keptBytes + byteCount > MAX_CLIENT_BEHIND_BYTES
    if (this.#isBusy && !isBody && isTooMuch) this.#end('too much behind a request')
  }

  #count(): void {
    const bytes = this.#isBusy ? this.#duplex.keptBytes : this.#headBytes
    if (this.#place?.resize(bytes) === false) this.#end('too many bytes are unread')
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
    this.#place?.release()
    this.#waiting.length = 0
  }
}
