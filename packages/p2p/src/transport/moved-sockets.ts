/**
 * Ends TCP connections whose local address this machine has lost, such as after a change from Wi-Fi to a mobile network. Their
 * packets arrive nowhere, and TCP says so only after minutes. A machine without any route keeps its connections: its
 * address may come back.
 */
import type { Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Clock, Logger } from '@mesh/core'
import { MOVED_LOOKS, OWN_ADDRESS_LOOK_MS } from './limits.ts'
import { ownAddressTowards } from '@mesh/port-mapping'
import { plainIp } from './socket-address.ts'

interface MachineAddresses {
  /** The addresses of its interfaces. */
  readonly own: () => ReadonlySet<string>
  /** The address from which it would send to the host now. Rejects when it has no route. */
  readonly towards: (host: string, signal: AbortSignal) => Promise<string>
}

type WatchedSocket = Pick<Socket, 'localAddress' | 'remoteAddress' | 'destroy' | 'once'>

const THIS_MACHINE: MachineAddresses = {
  own: () =>
    new Set(Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))),
  towards: ownAddressTowards,
}

export class MovedSockets {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #machine: MachineAddresses
  /** Number of looks in a row that missed the address of each socket. */
  readonly #missed = new Map<WatchedSocket, number>()
  readonly #stopping = new AbortController()
  #cancelLook: (() => void) | undefined

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }, machine = THIS_MACHINE) {
    this.#clock = clock
    this.#logger = logger
    this.#machine = machine
  }

  /** Watches a socket until it closes. */
  watch(socket: WatchedSocket): void {
    if (this.#stopping.signal.aborted) return
    this.#missed.set(socket, 0)
    socket.once('close', () => this.#missed.delete(socket))
    this.#lookLater()
  }

  stop(): void {
    this.#stopping.abort(new Error('the node stops'))
    this.#cancelLook?.()
    this.#missed.clear()
  }

  #lookLater(): void {
    this.#cancelLook ??= this.#clock.after(OWN_ADDRESS_LOOK_MS, () => {
      this.#cancelLook = undefined
      this.#look()
      if (this.#missed.size > 0) this.#lookLater()
    })
  }

  #look(): void {
    const own = this.#machine.own()
    for (const [socket, before] of this.#missed) {
      const local = plainIp(socket.localAddress)
      const missed = local === undefined || own.has(local) || isLoopback(local) ? 0 : before + 1
      this.#missed.set(socket, missed)
      if (missed >= MOVED_LOOKS) void this.#judge(socket)
    }
  }

  async #judge(socket: WatchedSocket): Promise<void> {
    const [local, remote] = [plainIp(socket.localAddress), plainIp(socket.remoteAddress)]
    if (local === undefined || remote === undefined) return
    try {
      const now = await this.#machine.towards(remote, this.#stopping.signal)
      if (now === local || !this.#missed.has(socket)) return
      this.#logger.debug('connection from an address that is gone', { local, remote, now })
      socket.destroy(new Error('its address is no longer one of this machine'))
    } catch {
      // no route to the other side now
    }
  }
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}
