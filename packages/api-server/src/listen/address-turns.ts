/** Connections, or requests on them, that wait, of which each address has as many taken: whoever opens thousands waits itself. */
import { addressGroup } from '@mesh/core'

/** A socket that waits, or something of one. */
interface FromAddress {
  /** Undefined for a unix socket. */
  readonly remoteAddress?: string | undefined
}

export class AddressTurns<T extends FromAddress> {
  /** Those of each address, the one first whose turn is next. */
  readonly #byAddress = new Map<string, Set<T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(item: T): void {
    const address = addressOf(item)
    const group = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, group)
    if (group.has(item)) return
    group.add(item)
    this.#size++
  }

  delete(item: T): void {
    const address = addressOf(item)
    const group = this.#byAddress.get(address)
    if (group?.delete(item) !== true) return
    this.#size--
    if (group.size === 0) this.#byAddress.delete(address)
  }

  /** Takes `count` of them, or all where there are fewer. */
  take(count: number): T[] {
    const taken: T[] = []
    while (taken.length < count && this.#size > 0) {
      let groups = this.#byAddress.size
      const part = Math.ceil((count - taken.length) / groups)
      for (const [address, group] of this.#byAddress) {
        // those behind had their turn
        if (groups-- === 0 || taken.length === count) break
        const some = ends(group, Math.min(part, count - taken.length))
        for (const item of some) group.delete(item)
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
function ends<T>(items: ReadonlySet<T>, count: number): readonly T[] {
  const [first] = items
  if (count === 1 && first !== undefined) return [first]
  const all = [...items]
  if (all.length <= count) return all
  const oldest = Math.ceil(count / 2)
  return [...all.slice(0, oldest), ...all.slice(all.length - count + oldest)]
}

function addressOf({ remoteAddress = '' }: FromAddress): string {
  return addressGroup(remoteAddress)
}
