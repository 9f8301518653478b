/**
 * Inbound connections that have not finished their handshake. Whoever opens sockets and says nothing must not take the
 * places of others: when there are too many, the oldest of the address with the most ends.
 */
import type { Socket } from 'node:net'
import type { MultiaddrConnection } from '@libp2p/interface'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { addressGroupOf } from '../addresses/address-group.ts'
import { MAX_PENDING_INBOUND, MAX_PENDING_PER_ADDRESS } from '../limits.ts'
import type { AcceptedSockets } from '../upstream/bounded-websockets.ts'
import type { ReadTurns } from '../upstream/read-turns.ts'

type RawConnection = Pick<MultiaddrConnection, 'remoteAddr' | 'abort' | 'addEventListener'>

export class PendingConnections {
  /** The raw connections by what they count under, the oldest first. */
  readonly #byAddress = new Map<string, Set<RawConnection>>()
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Counts a connection until it is `done` or closes. */
  add(raw: RawConnection): void {
    const address = addressGroupOf(raw)
    const own = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, own)
    own.add(raw)
    this.#count++
    raw.addEventListener('close', () => this.done(raw), { once: true })
    if (own.size > MAX_PENDING_PER_ADDRESS) this.#endOldest(own)
    else if (this.#count > MAX_PENDING_INBOUND) this.#endOldest(this.#greatest())
  }

  done(raw: RawConnection): void {
    const address = addressGroupOf(raw)
    const own = this.#byAddress.get(address)
    if (own?.delete(raw) !== true) return
    this.#count--
    if (own.size === 0) this.#byAddress.delete(address)
  }

  #greatest(): ReadonlySet<RawConnection> {
    return [...this.#byAddress.values()].reduce((a, b) => (b.size > a.size ? b : a))
  }

  #endOldest(raws: ReadonlySet<RawConnection>): void {
    const [oldest] = raws
    if (oldest === undefined) return
    this.done(oldest)
    oldest.abort(new Error('too many connections without a handshake'))
  }
}

/** The same for connections that have not become WebSockets yet. */
export function pendingSockets(pending: PendingConnections, turns: ReadTurns): AcceptedSockets {
  const raws = new WeakMap<Socket, RawConnection>()
  return {
    accepted(socket) {
      turns.watch(socket)
      const { remoteAddress, remotePort = 0 } = socket
      // it has gone already
      if (remoteAddress === undefined) return void socket.destroy()
      const raw = {
        remoteAddr: addressOf(remoteAddress, remotePort),
        abort: (reason: Error) => void socket.destroy(reason),
        addEventListener: (_: string, listener: () => void) => void socket.once('close', listener),
      } as unknown as RawConnection
      raws.set(socket, raw)
      pending.add(raw)
    },
    upgraded(socket) {
      const raw = raws.get(socket)
      if (raw !== undefined) pending.done(raw)
    },
  }
}

function addressOf(host: string, port: number): Multiaddr {
  // IPv4 on a socket of both families, and the zone of an address on the link
  const [ip = host] = host.replace(/^::ffff:/, '').split('%')
  return multiaddr(`/ip${ip.includes(':') ? 6 : 4}/${ip}/tcp/${port}`)
}
