/** Connections that wait, of which each address has as many taken: whoever opens thousands waits for them itself. */
import type { Socket } from 'node:net'
import { addressGroup } from '@mesh/core'

export class AddressTurns {
  /** Those of each address, the one first whose turn is next. */
  readonly #byAddress = new Map<string, Set<Socket>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(socket: Socket): void {
    const address = addressOf(socket)
    const group = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, group)
    if (group.has(socket)) return
    group.add(socket)
    this.#size++
  }

  delete(socket: Socket): void {
    const address = addressOf(socket)
    const group = this.#byAddress.get(address)
    if (group?.delete(socket) !== true) return
    this.#size--
    if (group.size === 0) this.#byAddress.delete(address)
  }

  /** Takes `count` of them, or all where there are fewer. */
  take(count: number): Socket[] {
    const taken: Socket[] = []
    while (taken.length < count && this.#size > 0) {
      const part = Math.ceil((count - taken.length) / this.#byAddress.size)
      for (const [address, group] of [...this.#byAddress].slice(0, count - taken.length)) {
        const some = ends(group, Math.min(part, count - taken.length))
        for (const socket of some) group.delete(socket)
        this.#size -= some.length
        taken.push(...some)
        // the others go before it next time
        this.#byAddress.delete(address)
        if (group.size > 0) this.#byAddress.set(address, group)
      }
    }
    return taken
  }
}

/** Gives `count` of them, by halves those that wait longest and those that have come last. */
export function ends(sockets: ReadonlySet<Socket>, count: number): Socket[] {
  const all = [...sockets]
  if (all.length <= count) return all
  const oldest = Math.ceil(count / 2)
  return [...all.slice(0, oldest), ...all.slice(all.length - count + oldest)]
}

/** The address group, '' for a unix socket. */
function addressOf({ remoteAddress = '' }: Socket): string {
  return addressGroup(remoteAddress)
}
