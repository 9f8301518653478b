/**
 * When requests are handled: those of one connection one after the other, those of all in turns. Node parses all that one
 * block of bytes holds at once, and 64 KiB hold more than a thousand requests. While one waits its connection is not read.
 * Questions for the node's health, which take next to no time, go first, as whoever watches it counts the time. Connections
 * on which something was answered go before new ones, of which thousands may come at once; those are taken first, for a while.
 * Of those that wait alike each address has its turn.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { routes } from '@mesh/api-contract'
import { type Clock, LoopTurns } from '@mesh/core'
import { REQUESTS_BESIDE_ARRIVALS_MS, REQUESTS_TURN_MS } from '../limits.ts'
import { AddressTurns } from './address-turns.ts'
import type { Arrivals } from './arrivals.ts'
import { hasPostponed, isStopped, readOn, stopReading } from './socket-reading.ts'

/** The requests of one connection. */
interface Queue {
  /** One of them is being handled, or waits for its turn. */
  isBusy: boolean
  /** One of them was answered. */
  isKnown: boolean
  readonly waiting: Waiting[]
}

interface Waiting {
  readonly remoteAddress: string | undefined
  readonly begin: () => void
  /** Is it a question for the node's health? */
  readonly isHealth: boolean
}

/** One in so many that wait goes first although its connection is new: known ones may have more than there is time for. */
const NEW_ONE_IN = 4
/** One in so many is no question for health: of these, too, there may be more than there is time for. */
const OTHER_ONE_IN = 2
const HEALTH_PATHS: ReadonlySet<string> = new Set([routes.getLiveness.path, routes.getReadiness.path])

export class RequestTurns {
  readonly #turns: LoopTurns
  /** The requests that wait for a turn: questions for health, and others on connections that are known and on new ones. */
  readonly #health = new AddressTurns<Waiting>()
  readonly #known = new AddressTurns<Waiting>()
  readonly #new = new AddressTurns<Waiting>()
  #begun = 0
  readonly #queues = new WeakMap<Socket, Queue>()

  constructor(clock: Clock, arrivals: Pick<Arrivals, 'goFirst' | 'areMany'>) {
    const turnMs = () => {
      if (arrivals.goFirst()) return 0
      return arrivals.areMany ? REQUESTS_BESIDE_ARRIVALS_MS : REQUESTS_TURN_MS
    }
    this.#turns = new LoopTurns(turnMs, clock)
  }

  /** Calls `handle` when the requests before it on its connection are answered, and there is time. */
  take({ socket, url = '' }: IncomingMessage, res: ServerResponse, handle: () => void): void {
    const queue = this.#queueOf(socket)
    const isHealth = HEALTH_PATHS.has(url)
    const begin = () => {
      res.once('close', () => {
        queue.isKnown = true
        this.#next(socket, queue)
      })
      if (socket.destroyed) return
      handle()
    }
    const waiting = { remoteAddress: socket.remoteAddress, begin, isHealth }
    if (queue.isBusy) {
      queue.waiting.push(waiting)
      stopReading(socket)
      return
    }
    queue.isBusy = true
    this.#inTurn(queue, waiting)
  }

  #next(socket: Socket, queue: Queue): void {
    const next = queue.waiting.shift()
    if (socket.destroyed) {
      queue.waiting.length = 0
      return
    }
    // what Node does at the end of an answer may have it read again
    if (queue.waiting.length > 0 || hasPostponed(socket)) stopReading(socket)
    // the body of the last one may still have to come; and one connection after the other reads on
    if (queue.waiting.length === 0 && isStopped(socket)) this.#turns.later(() => readOn(socket))
    if (next === undefined) queue.isBusy = false
    else this.#inTurn(queue, next)
  }

  #inTurn({ isKnown }: Queue, request: Waiting): void {
    if (this.#turns.isTimeLeft()) return request.begin()
    const waiting = request.isHealth ? this.#health : isKnown ? this.#known : this.#new
    waiting.add(request)
    // as many works as there are requests, whichever of them each begins
    this.#turns.later(() => this.#beginNext())
  }

  #beginNext(): void {
    const begun = ++this.#begun
    const others = begun % NEW_ONE_IN === 0 ? [this.#new, this.#known] : [this.#known, this.#new]
    const queues = begun % OTHER_ONE_IN === 0 ? [...others, this.#health] : [this.#health, ...others]
    queues
      .find(({ size }) => size > 0)
      ?.take(1)[0]
      ?.begin()
  }

  #queueOf(socket: Socket): Queue {
    const known = this.#queues.get(socket)
    if (known !== undefined) return known
    const queue = { isBusy: false, isKnown: false, waiting: [] }
    this.#queues.set(socket, queue)
    return queue
  }
}
