/**
 * When requests are handled: those of one connection one after the other, those of all in turns. Node parses all that one
 * block of bytes holds at once, and 64 KiB hold more than a thousand requests. While one waits its connection is not read.
 * Connections on which something was answered go before new ones, of which thousands may come at once.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Clock, LoopTurns } from '@mesh/core'
import { REQUESTS_TURN_MS } from '../limits.ts'
import { isStopped, readOn, stopReading } from './socket-reading.ts'

/** The requests of one connection. */
interface Queue {
  /** One of them is being handled, or waits for its turn. */
  isBusy: boolean
  /** One of them was answered. */
  isKnown: boolean
  readonly waiting: (() => void)[]
}

/** One in so many that wait goes first although its connection is new: known ones may have more than there is time for. */
const NEW_ONE_IN = 4

export class RequestTurns {
  readonly #turns: LoopTurns
  /** The requests that wait for a turn, on connections that are known and on new ones. */
  readonly #known: (() => void)[] = []
  readonly #new: (() => void)[] = []
  #begun = 0
  readonly #queues = new WeakMap<Socket, Queue>()

  constructor(clock: Clock) {
    this.#turns = new LoopTurns(REQUESTS_TURN_MS, clock)
  }

  /** Calls `handle` when the requests before it on its connection are answered, and there is time. */
  take({ socket }: IncomingMessage, res: ServerResponse, handle: () => void): void {
    const queue = this.#queueOf(socket)
    const begin = () => {
      res.once('close', () => {
        queue.isKnown = true
        this.#next(socket, queue)
      })
      if (socket.destroyed) return
      handle()
    }
    if (queue.isBusy) {
      queue.waiting.push(begin)
      stopReading(socket)
      return
    }
    queue.isBusy = true
    this.#inTurn(queue, begin)
  }

  #next(socket: Socket, queue: Queue): void {
    const begin = queue.waiting.shift()
    if (socket.destroyed) {
      queue.waiting.length = 0
      return
    }
    // what Node does at the end of an answer may have it read again
    if (queue.waiting.length > 0) stopReading(socket)
    // the body of the last one may still have to come; and one connection after the other reads on
    else if (isStopped(socket)) this.#turns.later(() => readOn(socket))
    if (begin === undefined) queue.isBusy = false
    else this.#inTurn(queue, begin)
  }

  #inTurn({ isKnown }: Queue, begin: () => void): void {
    if (this.#turns.isTimeLeft()) return begin()
    const waiting = isKnown ? this.#known : this.#new
    waiting.push(begin)
    // as many works as there are requests, whichever of them each begins
    this.#turns.later(() => this.#beginNext())
  }

  #beginNext(): void {
    const isNewFirst = ++this.#begun % NEW_ONE_IN === 0
    const [first, second] = isNewFirst ? [this.#new, this.#known] : [this.#known, this.#new]
    const begin = first.shift() ?? second.shift()
    begin?.()
  }

  #queueOf(socket: Socket): Queue {
    const known = this.#queues.get(socket)
    if (known !== undefined) return known
    const queue = { isBusy: false, isKnown: false, waiting: [] }
    this.#queues.set(socket, queue)
    return queue
  }
}
