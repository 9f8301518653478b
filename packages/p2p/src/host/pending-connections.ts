/**
 * Inbound connections that have not finished their handshake. Whoever opens sockets and says nothing must not take the
 * places of others: when there are too many, the oldest of the address with the most ends.
 */
import type { MultiaddrConnection } from '@libp2p/interface'
import { addressGroupOf } from '../addresses/address-group.ts'
import { MAX_PENDING_INBOUND, MAX_PENDING_PER_ADDRESS } from '../limits.ts'

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
