/**
 * How much time the work for others may take in one turn of the event loop. Libraries handle all that has come at once,
 * however much it is. With the budget, work that finds no time left waits for a later turn.
 *
 * 1. A turn begins with the first question for time, and ends when the event loop comes round.
 * 2. Each lane may use the turn up to a point of its own. So strangers leave time to members, and members to health.
 * 3. Waiting work goes on in later turns: lane by lane, and within a lane key by key, so that one address delays no other.
 * 4. Each lane may begin one piece of work in each turn, so that no lane waits for ever.
 */
import type { Clock } from '../clock.ts'

/** The kinds of work, in order of priority. */
export type Lane = 'health' | 'control' | 'members' | 'strangers' | 'background'

/** Longest time that all lanes together may use of one turn, in ms. */
export const TURN_MS = 20

/** The point of the turn, in ms, from which a lane must wait. */
const LANE_MS: Readonly<Record<Lane, number>> = {
  health: TURN_MS,
  control: TURN_MS,
  members: 16,
  strangers: 10,
  background: 6,
}
const LANES = Object.keys(LANE_MS) as readonly Lane[]

/** Most microtasks between a promise that resolves and the end of the work that awaits it. */
const MICROTASKS = 32

export interface WaitOptions {
  /** Names the requester, such as an address group. The keys of one lane take turns. */
  readonly key?: string
  /** Aborts the wait for a turn. */
  readonly signal?: AbortSignal
}

type LoopClock = Pick<Clock, 'monotonic' | 'after'>

const budgets = new WeakMap<LoopClock, LoopBudget>()

/** Gives the budget of the event loop. A process has one clock, and so one budget. */
export function loopBudget(clock: LoopClock): LoopBudget {
  const budget = budgets.get(clock) ?? new LoopBudget(clock)
  budgets.set(clock, budget)
  return budget
}

interface Waiting {
  readonly begin: () => void
  /** The work begins some microtasks after `begin`. */
  readonly isAwaited: boolean
}

export class LoopBudget {
  readonly #clock: LoopClock
  readonly #queues = new Map(LANES.map((lane) => [lane, new FairQueue()] as const))
  /** When this turn began; undefined before the first question. */
  #startMs: number | undefined

  constructor(clock: LoopClock) {
    this.#clock = clock
  }

  /** True while this turn has time for the lane. */
  isTimeLeft(lane: Lane): boolean {
    return this.#usedMs() < LANE_MS[lane]
  }

  /** Calls `work` in the first later turn that has time. It must not throw. */
  later(lane: Lane, work: () => void, key = ''): void {
    this.#queue(lane).add(key, { begin: work, isAwaited: false })
    this.#usedMs()
  }

  /** Begins work now where this turn has time, else in a later one. Rejects with the signal's reason. */
  async run<T>(lane: Lane, work: () => Promise<T>, options?: WaitOptions): Promise<T> {
    const turn = this.turn(lane, options)
    if (turn !== undefined) await turn
    return await work()
  }

  /** Undefined: this turn has time. Else resolves in a later one, or rejects with the signal's reason. */
  turn(lane: Lane, { key = '', signal }: WaitOptions = {}): Promise<void> | undefined {
    const queue = this.#queue(lane)
    if (queue.size === 0 && this.isTimeLeft(lane)) return undefined
    this.#usedMs()
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error)
      const begin = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const waiting = { begin, isAwaited: true }
      const leave = () => {
        queue.remove(key, waiting)
        reject(signal?.reason as Error)
      }
      signal?.addEventListener('abort', leave, { once: true })
      queue.add(key, waiting)
    })
  }

  /**
   * Takes the steps of a work, as many in each turn as there is time for, and calls `done` with the result. The first turn
   * may be this one. The returned function ends it. Neither the steps nor `done` may throw.
   */
  walk<T>(lane: Lane, steps: Iterator<unknown, T>, done: (result: T) => void): () => void {
    let isEnded = false
    const goOn = () => {
      while (!isEnded) {
        const step = steps.next()
        if (step.done === true) return done(step.value)
        if (!this.isTimeLeft(lane)) return this.later(lane, goOn)
      }
    }
    goOn()
    return () => void (isEnded = true)
  }

  #queue(lane: Lane): FairQueue {
    return this.#queues.get(lane) as FairQueue
  }

  /** The time since this turn began, which it does now if it has not. */
  #usedMs(): number {
    const nowMs = this.#clock.monotonic()
    if (this.#startMs === undefined) {
      this.#startMs = nowMs
      const end = () => {
        this.#startMs = undefined
        void this.#goOn()
      }
      // somebody may await this work in a process that has nothing else to do
      this.#clock.after(0, end, { keepAlive: true })
    }
    return nowMs - this.#startMs
  }

  async #goOn(): Promise<void> {
    for (const [lane, queue] of this.#queues) {
      // work that is added meanwhile waits for the next turn
      const waiting = queue.size
      for (let begun = 0; begun < waiting && (this.isTimeLeft(lane) || begun === 0); begun++) {
        const next = queue.take()
        next?.begin()
        if (next?.isAwaited === true) for (let n = 0; n < MICROTASKS; n++) await Promise.resolve()
      }
      if (queue.size > 0) this.#usedMs()
    }
  }
}

/** Gives the first work of each key in turn. */
class FairQueue {
  readonly #byKey = new Map<string, Waiting[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(key: string, waiting: Waiting): void {
    this.#size++
    const own = this.#byKey.get(key)
    if (own === undefined) this.#byKey.set(key, [waiting])
    else own.push(waiting)
  }

  take(): Waiting | undefined {
    for (const [key, own] of this.#byKey) {
      const first = own.shift()
      this.#size--
      this.#byKey.delete(key)
      if (own.length > 0) this.#byKey.set(key, own)
      return first
    }
    return undefined
  }

  remove(key: string, waiting: Waiting): void {
    const before = this.#byKey.get(key) ?? []
    const own = before.filter((each) => each !== waiting)
    this.#size -= before.length - own.length
    if (own.length > 0) this.#byKey.set(key, own)
    else this.#byKey.delete(key)
  }
}
