/**
 * A client's connection as Node's HTTP reads it. Node parses all that has come at once, before anything else runs: 64 KiB
 * may hold thousands of requests, or of pieces of a body. So the parser gets small pieces, each within the loop budget:
 *
 * 1. A piece ends with the head of a request. Health checks go first and bodies last; the addresses take turns.
 * 2. While a request is answered, what is behind it waits, and the client is not read further.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Lane, LoopBudget } from '@mesh/core/limits'
import { PIECE_BYTES } from '../limits.ts'

const HEAD_END = Buffer.from('\r\n\r\n')
const LINE_FEED = 0x0a

export interface ClientConnectionInit {
  readonly budget: LoopBudget
  /** Gives the lane of a piece. */
  readonly laneOf: (piece: Buffer) => Lane
  /** Those with one key share their time. */
  readonly key: string
}

export class ClientConnection extends Duplex {
  readonly #socket: Socket
  readonly #init: ClientConnectionInit
  /** Bytes that came and were not parsed. */
  #unread: Buffer | undefined
  #hasEnded = false
  #isWanted = true
  #isHandingOn = false
  #last: ServerResponse | undefined
  #unanswered = 0
  /** True where the request line of the head that comes now is complete. */
  isPastPath = false

  constructor(socket: Socket, init: ClientConnectionInit) {
    // a buffer would hand on heads while a request is answered
    super({ decodeStrings: false, readableHighWaterMark: 1 })
    this.#socket = socket
    this.#init = init
    // an answer goes straight to the socket, in one piece
    this.write = socket.write.bind(socket)
    this.cork = socket.cork.bind(socket)
    this.uncork = () => {
      while (socket.writableCorked > 0) socket.uncork()
    }
    Object.defineProperties(this, {
      end: { value: socket.end.bind(socket) },
      writable: { get: () => socket.writable },
      writableLength: { get: () => socket.writableLength },
    })
    socket.on('data', (bytes) => {
      this.#unread = bytes
      this.#handOn()
    })
    socket.once('end', () => {
      this.#hasEnded = true
      this.#handOn()
    })
    socket.on('error', () => {})
    socket.once('close', () => this.destroy())
    socket.on('drain', () => this.emit('drain'))
    socket.on('timeout', () => this.emit('timeout'))
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  /** The answer to the last request, while it is not complete. */
  get unanswered(): ServerResponse | undefined {
    return this.#unanswered === 0 ? undefined : this.#last
  }

  /** Calls `handle` when the request before is answered. */
  queue(response: ServerResponse, handle: () => void): void {
    const before = this.unanswered
    this.#last = response
    this.#unanswered++
    response.once('close', () => {
      this.#unanswered--
      this.isPastPath = false
      this.#handOn()
    })
    if (before === undefined) handle()
    else
      before.once('close', () => {
        if (!this.destroyed) handle()
      })
  }

  override _read(): void {
    this.#isWanted = true
    this.#handOn()
  }

  #handOn(hasTurn = false): void {
    if (this.#isHandingOn && !hasTurn) return
    this.#isHandingOn = true
    const { budget, laneOf, key } = this.#init
    while (this.#unread !== undefined && this.#mayHandOn()) {
      // Node accepts one connection in each turn, and bodies would make every turn as long as may be
      const lane = this.#last?.req.complete === false ? 'background' : laneOf(this.#unread)
      const turn = hasTurn ? undefined : budget.turn(lane, { key })
      hasTurn = false
      if (turn !== undefined) {
        this.#socket.pause()
        return void turn.then(() => this.#handOn(true))
      }
      this.#isWanted = this.push(this.#takePiece())
    }
    this.#isHandingOn = false
    if (this.#unread !== undefined) this.#socket.pause()
    else if (this.#hasEnded && !this.readableEnded && !this.destroyed) this.push(null)
    else if (this.#socket.isPaused()) this.#socket.resume()
  }

  #mayHandOn(): boolean {
    const isAnswering = this.#unanswered > 0 && this.#last?.req.complete === true
    return this.#isWanted && !isAnswering && !this.destroyed
  }

  #takePiece(): Buffer | undefined {
    const unread = this.#unread ?? Buffer.alloc(0)
    const longest = unread.subarray(0, PIECE_BYTES)
    const end = longest.indexOf(HEAD_END)
    const piece = end === -1 ? longest : longest.subarray(0, end + HEAD_END.length)
    this.#unread = piece.length === unread.length ? undefined : unread.subarray(piece.length)
    this.isPastPath ||= piece.includes(LINE_FEED)
    return piece
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  // what Node's HTTP asks of a socket
  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms)
    return this
  }

  destroySoon(): void {
    this.#socket.destroySoon()
  }
}
