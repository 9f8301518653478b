/**
 * When requests are handled: those of one connection one after the other, those of all in turns. Node parses all that one
 * block of bytes holds at once, and 64 KiB hold more than a thousand requests.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Clock, LoopTurns } from '@mesh/core'
import { MAX_WAITING_REQUESTS, REQUESTS_TURN_MS } from '../limits.ts'

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
      if (queue.waiting.length >= MAX_WAITING_REQUESTS) socket.pause()
      return
    }
    queue.isBusy = true
    if (this.#turns.isTimeLeft()) begin()
    else this.#turns.later(begin)
  }

  #next(socket: Socket, queue: Queue): void {
    const begin = queue.waiting.shift()
    if (begin === undefined) {
      queue.isBusy = false
      socket.resume()
    } else if (socket.destroyed) queue.waiting.length = 0
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
