/**
 * The side that opens streams to one peer.
 *
 * 1. Exchanges an offer on a control channel.
 * 2. Makes some connections ahead, to the peer's ports, or lets the peer connect where only that works.
 * 3. Gives each stream a ready connection, and takes it back at the end.
 *
 * Retries with backoff.
 */
import type { TLSSocket } from 'node:tls'
import { type Clock, type PeerId, type Random, toError } from '@mesh/core'
import { type Backoff, createBackoff } from '@mesh/core/limits'
import type { BulkConnection } from './bulk-connection.ts'
import {
  HANDSHAKE_MS,
  MAX_IDLE_CONNECTIONS,
  MAX_OPENED_PER_PEER,
  MAX_PARALLEL_DIALS_PER_PEER,
  OPEN_BUDGET_MS,
  OPEN_BUDGET_REACHED_MS,
  READY_CONNECTIONS,
  RETRY,
  SPARE_IDLE_MS,
  UNUSED_PEER_MS,
} from './limits.ts'

/** The answer of the peer: how connections to it are made until `ended` is told. */
export interface Agreement {
  /** Resolves when the peer proved the key. */
  readonly dial: () => Promise<TLSSocket>
  /** Asks the peer to connect to this node; what it makes comes to `OpenerInit.negotiate`'s `onSocket`. */
  readonly askToDial: (count: number) => void
  readonly close: () => void
}

export interface OpenerInit {
  readonly peer: PeerId
  readonly clock: Clock
  readonly random: Random
  /** Makes a connection of a socket. `onIdle` and `onClosed` are told of it. */
  readonly build: (
    socket: TLSSocket,
    on: Pick<ConstructorParameters<typeof BulkConnection>[0], 'onIdle' | 'onClosed'>,
  ) => BulkConnection
  /** Rejects where there is no direct path, or the peer does not answer. */
  readonly negotiate: (on: {
    /** The peer connected because it was asked to. */
    readonly onSocket: (socket: TLSSocket) => void
    readonly onEnded: () => void
  }) => Promise<Agreement>
  /** False: no more connections in all. */
  readonly mayDial: () => boolean
  /** No connection is tried for a while. */
  readonly onFailed: (reason: string) => void
  /** The first connection stands. */
  readonly onReady: (address: string) => void
  /** Nothing is open, and nothing was asked for in a long time. */
  readonly onUnused: () => void
}

type Waiter = (connection: BulkConnection | undefined) => void

export class Opener {
  readonly #init: OpenerInit
  readonly #backoff: Backoff
  readonly #all = new Set<BulkConnection>()
  /** The one that was used last at the end. */
  readonly #idle: BulkConnection[] = []
  #waiters: Waiter[] = []
  #agreement: Agreement | undefined
  #isNegotiating = false
  #dialling = 0
  /** The connections that the peer was asked to make and did not yet. */
  #asked = 0
  /** True after this node could not reach the peer: then the peer is asked to dial. */
  #isBackwards = false
  #usedAt: number
  #isStopped = false
  /** A stream waited in vain: until a connection is ready, none waits any more. */
  #isSlow = false
  #lastError: string | undefined
  #cancelTidy = () => {}

  constructor(init: OpenerInit) {
    this.#init = init
    this.#backoff = createBackoff(RETRY, init)
    this.#usedAt = init.clock.monotonic()
    this.#tidyLater()
  }

  get connections(): number {
    return this.#all.size
  }

  /** Makes connections ready where there are none. */
  prepare(): void {
    this.#usedAt = this.#init.clock.monotonic()
    void this.#fill()
  }

  /**
   * An idle connection, or the next one that is ready in time; undefined: use another path.
   * @param rttMs asked only where none is idle
   */
  async take(rttMs: () => number): Promise<BulkConnection | undefined> {
    this.#usedAt = this.#init.clock.monotonic()
    const ready = this.#takeIdle()
    if (ready !== undefined || this.#isSlow || this.#isWaitingToRetry()) {
      void this.#fill()
      return ready
    }
    return await this.#wait(rttMs())
  }

  /** A path opened or closed: what failed before may work now. */
  pathChanged(): void {
    if (this.#all.size > 0) return
    this.#backoff.hasten(0)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTidy()
    this.#agreement?.close()
    for (const connection of this.#all) connection.close()
    this.#tell(undefined)
  }

  /** Ends connections that the rules do not allow any more. */
  closeWhere(isRefused: (connection: BulkConnection) => boolean): void {
    for (const connection of this.#all) if (isRefused(connection)) connection.close()
  }

  #takeIdle(): BulkConnection | undefined {
    let connection = this.#idle.pop()
    while (connection !== undefined && !connection.isLive) connection = this.#idle.pop()
    return connection
  }

  #isWaitingToRetry(): boolean {
    return this.#backoff.remainingMs() > 0
  }

  #wait(rttMs: number): Promise<BulkConnection | undefined> {
    return new Promise((resolve) => {
      let cancel = () => {}
      const waiter: Waiter = (connection) => {
        cancel()
        resolve(connection)
      }
      this.#waiters.push(waiter)
      void this.#fill()
      cancel = this.#init.clock.after(rttMs + this.#budgetMs, () => {
        this.#waiters = this.#waiters.filter((one) => one !== waiter)
        this.#isSlow = this.#all.size === 0
        resolve(undefined)
      })
    })
  }

  /** A peer that is reached is worth a longer wait: what goes over libp2p does so until its end. */
  get #budgetMs(): number {
    const isComing = this.#all.size > 0 && this.#dialling + this.#asked > 0
    return isComing ? OPEN_BUDGET_REACHED_MS : OPEN_BUDGET_MS
  }

  /** Makes as many connections as streams wait for, and some ahead. */
  async #fill(): Promise<void> {
    if (this.#isStopped || this.#isWaitingToRetry()) return
    if (this.#agreement === undefined) return await this.#negotiate()
    const underWay = this.#dialling + this.#asked
    const wanted = this.#waiters.length + READY_CONNECTIONS - this.#idle.length - underWay
    const free = Math.min(
      MAX_PARALLEL_DIALS_PER_PEER - underWay,
      MAX_OPENED_PER_PEER - this.#all.size - underWay,
    )
    const count = this.#init.mayDial() ? Math.min(wanted, free) : 0
    if (count <= 0) return
    if (this.#isBackwards) this.#ask(this.#agreement, count)
    else for (let at = 0; at < count; at++) void this.#dial(this.#agreement)
  }

  async #negotiate(): Promise<void> {
    if (this.#isNegotiating) return
    this.#isNegotiating = true
    try {
      const agreement = await this.#init.negotiate({
        onSocket: (socket) => this.#arrived(socket),
        onEnded: () => {
          this.#agreement = undefined
          this.#asked = 0
          this.#isBackwards = false
        },
      })
      if (this.#isStopped) return agreement.close()
      this.#agreement = agreement
    } catch (error) {
      this.#failed(error)
    } finally {
      this.#isNegotiating = false
    }
    await this.#fill()
  }

  async #dial(agreement: Agreement): Promise<void> {
    this.#dialling++
    try {
      this.#add(await agreement.dial())
    } catch (error) {
      if (this.#agreement === agreement && !this.#isBackwards) this.#dialFailed(error)
    } finally {
      this.#dialling--
    }
    void this.#fill()
  }

  /** Where nothing stands the peer is asked to dial, else no more connections are made for a while. */
  #dialFailed(error: unknown): void {
    if (this.#all.size > 0) return this.#failed(error)
    this.#lastError = toError(error).message
    this.#isBackwards = true
  }

  #ask(agreement: Agreement, count: number): void {
    this.#asked += count
    agreement.askToDial(count)
    this.#init.clock.after(HANDSHAKE_MS, () => {
      if (this.#agreement !== agreement) return
      this.#asked = Math.max(0, this.#asked - count)
      if (this.#all.size === 0) this.#failed(new Error(this.#lastError ?? 'neither side reaches the other'))
    })
  }

  #arrived(socket: TLSSocket): void {
    if (this.#asked === 0) return void socket.destroy()
    this.#asked--
    this.#add(socket)
  }

  #add(socket: TLSSocket): void {
    if (this.#isStopped) return void socket.destroy()
    const connection = this.#init.build(socket, {
      onIdle: (idle) => this.#release(idle),
      onClosed: (closed) => {
        this.#all.delete(closed)
        const at = this.#idle.indexOf(closed)
        if (at !== -1) this.#idle.splice(at, 1)
      },
    })
    this.#all.add(connection)
    if (this.#all.size === 1) this.#init.onReady(connection.remoteAddress)
    this.#isSlow = false
    this.#lastError = undefined
    this.#backoff.succeeded()
    this.#release(connection)
  }

  #release(connection: BulkConnection): void {
    const waiter = this.#waiters.shift()
    if (waiter !== undefined) waiter(connection)
    else if (this.#idle.length < MAX_IDLE_CONNECTIONS) this.#idle.push(connection)
    else connection.close()
  }

  /** Nothing is tried for a while. */
  #failed(error: unknown): void {
    this.#lastError = toError(error).message
    this.#init.onFailed(this.#lastError)
    this.#backoff.failed()
    this.#isBackwards = false
    this.#tell(undefined)
  }

  #tell(connection: BulkConnection | undefined): void {
    for (const waiter of this.#waiters.splice(0)) waiter(connection)
  }

  #tidyLater(): void {
    this.#cancelTidy = this.#init.clock.after(SPARE_IDLE_MS, () => {
      this.#tidy()
      if (!this.#isStopped) this.#tidyLater()
    })
  }

  #tidy(): void {
    const isUnused = this.#init.clock.monotonic() - this.#usedAt > UNUSED_PEER_MS
    const spare = this.#idle.length - (isUnused ? 0 : READY_CONNECTIONS)
    // the ones that were used longest ago
    for (const connection of this.#idle.slice(0, Math.max(0, spare))) connection.close()
    if (isUnused && this.#all.size === 0) this.#init.onUnused()
  }
}
