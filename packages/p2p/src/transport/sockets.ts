/** Marks the sockets of every transport over TCP, and follows them when this machine moves. */
import type { Server, Socket } from 'node:net'
import { addressGroup, type Clock, type Logger } from '@mesh/core'
import { type LoopBudget, loopBudget, type Place, Scope } from '@mesh/core/limits'
import { type MarkSocket, markBeforeConnecting, markListening } from '../upstream/node/mark-socket.ts'
import { ACCEPTING_SOCKETS } from './limits.ts'
import { MovedSockets } from './moved-sockets.ts'

interface SocketsInit {
  /** Sets options of each socket before it connects or accepts. */
  readonly mark?: MarkSocket | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/** The sockets of one node: of its transports, and of bulk streams over TLS. */
export class Sockets {
  readonly clock: Clock
  readonly budget: LoopBudget
  readonly #mark: MarkSocket | undefined
  readonly #moved: MovedSockets
  readonly #accepting = new Scope(ACCEPTING_SOCKETS)

  constructor({ mark, ...components }: SocketsInit) {
    this.clock = components.clock
    this.budget = loopBudget(components.clock)
    this.#mark = mark
    this.#moved = new MovedSockets(components)
  }

  /** Takes a socket right after `connect` was called, and gives it back. */
  connecting<T extends Socket>(socket: T): T {
    if (this.#mark !== undefined) markBeforeConnecting(socket, this.#mark)
    this.#moved.watch(socket)
    return socket
  }

  /** Takes a server that listens. Throws where its socket cannot be marked. */
  listening(server: Server): void {
    if (this.#mark !== undefined) markListening(server, this.#mark)
  }

  /** Gives an accepted socket a place until it is a connection; undefined: it has gone, or there is no place. */
  accepted(socket: Socket): Place | undefined {
    socket.on('error', () => {})
    const { remoteAddress } = socket
    const place =
      remoteAddress === undefined
        ? undefined
        : this.#accepting.reserve({
            address: addressGroup(remoteAddress),
            end: (reason) => void socket.destroy(reason),
          })
    if (place === undefined) return void socket.destroy()
    socket.once('close', place.release)
    this.#moved.watch(socket)
    return place
  }

  /** Waits until the event loop has time for an accepted socket: encryption costs much for each. */
  async turn({ remoteAddress = '' }: Socket): Promise<void> {
    await this.budget.turn('strangers', { key: addressGroup(remoteAddress) })
  }

  stop(): void {
    this.#moved.stop()
  }
}
