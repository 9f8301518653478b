/**
 * This node's UDP sockets. Most nodes have only the engine's. Some NATs forget a mapping every minute, whatever flows. Then
 * further sockets replace each other, each used for less than the shortest life of a mapping:
 *
 * 1. Peers report where they see a socket. Two short-lived mappings in a row show a NAT that forgets.
 * 2. Before the mapping reaches that age, another socket opens with a new mapping.
 * 3. Its paths are probed and used when proven (`socket-change.ts`, `choose-path.ts`). Peers follow the later epoch.
 * 4. Later the earlier socket closes. The engine's own stays, to see whether the NAT still forgets.
 * 5. When it does not, or the mapping in use ends young, packets use the engine's socket again.
 */
import type { PeerId } from '@mesh/core'
import type { Endpoint, Engine } from '@mesh/engine'
import {
  LEAST_BREAK_MS,
  LIVES_KEPT,
  MOST_BREAK_MS,
  OLD_SOCKET_MS,
  ONE_BREAK_MS,
  RENEW_PART,
  SHORT_LIVES,
  WORD_MS,
  YOUNG_PART,
} from './limits.ts'
import type { LocalSocket, SocketEpoch } from './path-state.ts'
import { type Lived, SeenAddresses, type Word } from './seen-addresses.ts'
import type { VpnComponents } from '../vpn.ts'

interface OwnSocketsComponents extends Pick<VpnComponents, 'clock' | 'log'> {
  readonly engine: Pick<Engine, 'openSocket' | 'closeSocket' | 'udpPort'>
  /** Says whether there is a path that another mapping would serve. */
  readonly isNeeded: () => boolean
  /** Called when packets are to leave by another socket. */
  readonly onCurrent: (current: SocketEpoch) => void
  /** Called after a further socket was closed. */
  readonly onClosed: (socket: LocalSocket) => void
}

/** A witness and the address that it saw. */
interface Sight {
  readonly witness: PeerId
  readonly socket: LocalSocket
  readonly endpoint: Endpoint
  /** No NAT is between: it is an address of this machine. */
  readonly isOwn: boolean
}

export class OwnSockets {
  readonly #components: OwnSocketsComponents
  /** Where each socket that is open was seen. */
  readonly #seen = new Map<LocalSocket, SeenAddresses>()
  #current: SocketEpoch = { socket: undefined, epoch: 0 }
  /** How long the latest mappings lived, in ms, at least. */
  #lives: readonly number[] = []
  /** The NAT restarts, and forgets nothing by age: a mapping ended young. Until one lasts, or the NAT is another. */
  #isRestarting = false
  /** When the last of them ended. */
  #endedAt = Number.NEGATIVE_INFINITY
  #currentSince: number
  #cancelRenewal = () => {}
  #cancelClosing = () => {}

  constructor(components: OwnSocketsComponents) {
    this.#components = components
    this.#currentSince = components.clock.monotonic()
  }

  /** The socket that packets are to leave by. */
  get current(): SocketEpoch {
    return this.#current
  }

  /** Where the socket in use was seen; while nobody has said so, the engine's own. */
  get seen(): SeenAddresses {
    const current = this.#seenOf(this.#current.socket)
    return current.latest(1).length > 0 ? current : this.#seenOf(undefined)
  }

  /** Where the engine's own socket was seen, whichever is in use. */
  get ownSeen(): SeenAddresses {
    return this.#seenOf(undefined)
  }

  learn({ witness, socket, endpoint, isOwn }: Sight): Word {
    const now = this.#components.clock.monotonic()
    const word = this.#seenOf(socket).learn(witness, endpoint, { now, isOwn })
    if (isOwn) return word
    if (word.is === 'other') {
      if (word.isElsewhere) this.returnToOwn()
      else this.#ended(word.lived, socket)
    }
    const lastsNow = socket === undefined && word.is === 'same' && word.sinceMs > MOST_BREAK_MS
    if (lastsNow) this.returnToOwn()
    if (word.is !== 'same' && socket === this.#current.socket) this.#plan()
    return word
  }

  forget(witness: PeerId): void {
    for (const seen of this.#seen.values()) seen.forget(witness)
  }

  /** The NAT forgets nothing, or is another one: what was learnt of its mappings' lives holds no more. */
  returnToOwn(): void {
    this.#lives = []
    this.#isRestarting = false
    this.#cancelRenewal()
    if (this.#current.socket === undefined) return
    this.#components.log.debug('mappings last: back to the first socket')
    this.#take(undefined)
  }

  /** The engine is another one: its further sockets are gone. */
  restart(): void {
    this.#cancelRenewal()
    this.#cancelClosing()
    this.#lives = []
    this.#isRestarting = false
    this.#current = { socket: undefined, epoch: this.#current.epoch + 1 }
    this.#seen.clear()
  }

  stop(): void {
    this.#cancelRenewal()
    this.#cancelClosing()
    for (const socket of this.#seen.keys()) {
      if (socket !== undefined) this.#components.engine.closeSocket(socket)
    }
    this.restart()
  }

  #newSeen(socket: LocalSocket): SeenAddresses {
    return new SeenAddresses(() => socket ?? this.#components.engine.udpPort)
  }

  #seenOf(socket: LocalSocket): SeenAddresses {
    const seen = this.#seen.get(socket) ?? this.#newSeen(socket)
    // words of a socket that was closed meanwhile are of no use
    if (socket === undefined) this.#seen.set(socket, seen)
    return seen
  }

  /**
   * A mapping ended. Several witnesses tell of one: those who saw it last before it was known to end. Who is asked more
   * often knows better how long it lived.
   */
  #ended(seen: Lived | undefined, socket: LocalSocket): void {
    if (seen === undefined) return
    if (socket !== undefined && socket === this.#current.socket && this.#isYoung(seen)) {
      this.returnToOwn()
      this.#isRestarting = true
      return
    }
    const isSame = seen.toldAt < this.#endedAt + ONE_BREAK_MS
    const before = isSame ? this.#lives.slice(0, -1) : this.#lives
    const lived = isSame ? Math.max(seen.forMs, this.#lives.at(-1) ?? 0) : seen.forMs
    if (!isSame) this.#endedAt = this.#components.clock.monotonic()
    const isShort = lived >= LEAST_BREAK_MS && lived <= MOST_BREAK_MS
    this.#lives = isShort ? [...before, lived].slice(-LIVES_KEPT) : []
    this.#plan()
  }

  /** A NAT that forgets lets every mapping live for longer. */
  #isYoung({ forMs }: Lived): boolean {
    return this.#lives.length > 0 && forMs < Math.min(...this.#lives) * YOUNG_PART
  }

  /** Plans the next socket, before the mapping of the one in use is as old as the shortest was. */
  #plan(): void {
    this.#cancelRenewal()
    if (this.#isRestarting || this.#lives.length < SHORT_LIVES) return
    const { clock } = this.#components
    const now = clock.monotonic()
    const bornAt = this.#seenOf(this.#current.socket).oldest(now) ?? this.#currentSince
    const dueAt = bornAt + Math.min(...this.#lives) * RENEW_PART
    // a moment at least: the other witnesses have yet to say so
    this.#cancelRenewal = clock.after(Math.max(dueAt - now, ONE_BREAK_MS), () => this.#renew())
  }

  #renew(): void {
    const { engine, isNeeded, clock, log } = this.#components
    if (!isNeeded()) {
      this.#cancelRenewal = clock.after(WORD_MS, () => this.#renew())
      return
    }
    this.#closeOld()
    const socket = engine.openSocket()
    if (socket === undefined) {
      log.debug('no further socket: the mapping in use is kept until it is forgotten')
      return
    }
    log.debug('further socket before the NAT forgets', { port: socket, livesMs: this.#lives })
    this.#seen.set(socket, this.#newSeen(socket))
    this.#take(socket)
    this.#plan()
  }

  #take(socket: LocalSocket): void {
    const { clock, onCurrent } = this.#components
    this.#current = { socket, epoch: this.#current.epoch + 1 }
    this.#currentSince = clock.monotonic()
    this.#cancelClosing()
    this.#cancelClosing = clock.after(OLD_SOCKET_MS, () => this.#closeOld())
    onCurrent(this.#current)
  }

  #closeOld(): void {
    this.#cancelClosing()
    for (const socket of this.#seen.keys()) {
      if (socket === undefined || socket === this.#current.socket) continue
      this.#seen.delete(socket)
      this.#components.engine.closeSocket(socket)
      this.#components.onClosed(socket)
    }
  }
}
