/**
 * When requests are handled: those of one connection one after the other, those of all in turns. Node parses all that one
 * block of bytes holds at once, and 64 KiB hold more than a thousand requests. While one waits its connection is not read.
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
  readonly waiting: (() => void)[]
}

export class RequestTurns {
  readonly #turns: LoopTurns
  readonly #queues = new WeakMap<Socket, Queue>()

  constructor(clock: Clock) {
    this.#turns = new LoopTurns(REQUESTS_TURN_MS, clock)
  }

  /** Calls `handle` when the requests before it on its connection are answered, and there is time. */
  take({ socket }: IncomingMessage, res: ServerResponse, handle: () => void): void {
    const queue = this.#queueOf(socket)
    const begin = () => {
      res.once('close', () => this.#next(socket, queue))
      if (socket.destroyed) return
      handle()
    }
    if (queue.isBusy) {
      queue.waiting.push(begin)
      stopReading(socket)
      return
    }
    queue.isBusy = true
    this.#inTurn(begin)
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
    else this.#inTurn(begin)
  }

  #inTurn(begin: () => void): void {
    if (this.#turns.isTimeLeft()) begin()
    else this.#turns.later(begin)
  }

  #queueOf(socket: Socket): Queue {
    const known = this.#queues.get(socket)
    if (known !== undefined) return known
    const queue = { isBusy: false, waiting: [] }
    this.#queues.set(socket, queue)
    return queue
  }
}
