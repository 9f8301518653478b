/**
 * Asks connections whether they still carry something. A connection that is silent for `DOUBT_AFTER_MS` is in doubt. It stands, but
 * nothing new begins on it, and the peer is dialled as if it were not there (`connections.ts`). Anything that comes on it
 * ends the doubt; longer silence ends the connection.
 *
 * A NAT that restarts forgets all mappings at once, also those to relays. TCP notices after a minute or more, WebRTC after 10 to
 * 30 seconds.
 */
import type { Connection } from '@libp2p/interface'
import type { Clock, Logger, Random } from '@mesh/core'
import { DOUBT_AFTER_MS, SILENT_AFTER_MS } from './limits.ts'
import { receivedOn } from '../upstream/libp2p/bound-streams.ts'
import { Listeners } from '../listeners.ts'
import { isInDoubt, noteAsked, noteDoubt, noteSure } from './liveness.ts'
import { pingConnection } from './ping.ts'

/** A reason to end a connection sooner than any other that is silent. */
interface Early {
  /** How long it may be silent, in ms in which this process ran. */
  readonly endAfterMs: number
  /** Aborted when there is no such reason any more. */
  readonly signal: AbortSignal
}

interface Limit {
  readonly atMs: number
  readonly signal: AbortSignal
}

interface Check {
  readonly done: Promise<void>
  early: readonly Limit[]
  /** How long this process has run since it asked, in ms. */
  ranMs: number
}

/** The connection on which something was begun is in doubt. */
export class SilentConnectionError extends Error {
  constructor() {
    super('the connection is silent')
  }
}

/** The steps in which time is counted, in ms: a step that took twice as long is one in which this process was held up. */
const STEP_MS = 250

export class ConnectionChecks {
  readonly #components: { readonly clock: Clock; readonly random: Random; readonly logger: Logger }
  readonly #running = new Map<Connection, Check>()
  readonly #listeners = new Listeners<[connection: Connection]>()
  readonly #stopping = new AbortController()

  constructor(components: { readonly clock: Clock; readonly random: Random; readonly logger: Logger }) {
    this.#components = { ...components, logger: components.logger.child('connections') }
  }

  /** Checks the connection. Resolves when it carries or has ended, which it does after `SILENT_AFTER_MS`. */
  check(connection: Connection, early?: Early): Promise<void> {
    if (this.#stopping.signal.aborted || connection.status !== 'open') return Promise.resolve()
    const check = this.#running.get(connection) ?? this.#begin(connection)
    if (early !== undefined) {
      const limit = { atMs: check.ranMs + early.endAfterMs, signal: early.signal }
      check.early = [...check.early.filter(({ signal }) => !signal.aborted), limit]
    }
    return check.done
  }

  /**
   * Runs a task that uses these connections: its signal ends, too, when one of them is in doubt, and they are asked where it
   * takes long.
   *
   * @throws SilentConnectionError; what the task throws
   */
  async whileSure<T>(
    used: readonly Connection[],
    { signal, task }: { readonly signal: AbortSignal; readonly task: (sure: AbortSignal) => Promise<T> },
  ): Promise<T> {
    const doubt = new AbortController()
    const stopDoubts = this.onDoubt((connection) => {
      if (used.includes(connection) && isInDoubt(connection)) doubt.abort(new SilentConnectionError())
    })
    const ask = () => {
      for (const connection of used) void this.check(connection)
    }
    const cancel = this.#components.clock.after(DOUBT_AFTER_MS, ask)
    try {
      return await task(AbortSignal.any([signal, doubt.signal]))
    } catch (error) {
      throw doubt.signal.aborted && !signal.aborted ? doubt.signal.reason : error
    } finally {
      cancel()
      stopDoubts()
    }
  }

  /** Calls the listener when a connection is in doubt, and when it is so no more. The returned function ends that. */
  readonly onDoubt = this.#listeners.add

  stop(): void {
    this.#stopping.abort(new Error('this node stops'))
  }

  #begin(connection: Connection): Check {
    const { promise, resolve } = Promise.withResolvers<void>()
    const check: Check = { done: promise, early: [], ranMs: 0 }
    this.#running.set(connection, check)
    noteAsked(connection)
    void this.#follow(connection, check).then(() => {
      this.#running.delete(connection)
      noteSure(connection)
      this.#listeners.tell(connection)
      resolve()
    })
    return check
  }

  /** Resolves when the connection has shown that it carries, or has ended. */
  async #follow(connection: Connection, check: Check): Promise<void> {
    const { clock, random } = this.#components
    const ending = new AbortController()
    const signal = AbortSignal.any([ending.signal, this.#stopping.signal])
    const cancel = this.#watch(connection, check, () => ending.abort(new Error('no need to wait')))
    // an answer of any kind, a refusal too, shows that it carries
    await pingConnection(connection, { clock, random, signal }).catch(() => {})
    cancel()
  }

  /** Looks at the silence step by step; `onOver` is called when nobody has to wait for the answer any more. */
  #watch(connection: Connection, check: Check, onOver: () => void): () => void {
    const { clock } = this.#components
    let cancel = () => {}
    let received = receivedOn(connection)
    const step = () => {
      const began = clock.monotonic()
      cancel = clock.after(STEP_MS, () => {
        const wasUnderWay = check.ranMs === 0
        if (clock.monotonic() - began < 2 * STEP_MS) check.ranMs += STEP_MS
        const now = receivedOn(connection)
        if (now > received && !wasUnderWay) return onOver()
        received = now
        if (this.#isOver(check)) {
          this.#end(connection)
          return onOver()
        }
        if (check.ranMs >= DOUBT_AFTER_MS) this.#doubt(connection)
        step()
      })
    }
    step()
    return () => cancel()
  }

  #isOver({ early, ranMs }: Check): boolean {
    return ranMs >= SILENT_AFTER_MS || early.some(({ atMs, signal }) => !signal.aborted && atMs <= ranMs)
  }

  #doubt(connection: Connection): void {
    if (isInDoubt(connection)) return
    this.#log('connection in doubt', connection)
    noteDoubt(connection)
    this.#listeners.tell(connection)
  }

  #end(connection: Connection): void {
    this.#log('connection carries nothing any more', connection)
    connection.abort(new Error('carries nothing any more'))
  }

  #log(message: string, { remotePeer, remoteAddr }: Connection): void {
    this.#components.logger.debug(message, { peer: remotePeer.toString(), address: String(remoteAddr) })
  }
}
