/** Where peers saw this node's socket: their answers to probes say so. Pure. */
import type { PeerId } from '@mesh/core'
import { type Endpoint, endpointText } from '@mesh/engine'

/** How many peers' words are kept. */
const MAX_WITNESSES = 16

export class SeenAddresses {
  /** The address that each witness told, the latest word last. */
  readonly #words = new Map<PeerId, Endpoint>()

  /** Takes a peer's word, and says whether it is the same as before, another one, or its first. */
  learn(witness: PeerId, endpoint: Endpoint): 'same' | 'other' | 'first' {
    const before = this.#words.get(witness)
    this.#words.delete(witness)
    this.#words.set(witness, endpoint)
    const [oldest] = this.#words.keys()
    if (this.#words.size > MAX_WITNESSES && oldest !== undefined) this.#words.delete(oldest)
    if (before === undefined) return 'first'
    return endpointText(before) === endpointText(endpoint) ? 'same' : 'other'
  }

  forget(witness: PeerId): void {
    this.#words.delete(witness)
  }

  clear(): void {
    this.#words.clear()
  }

  /** The latest `count` addresses, each once, in an order that does not change with who spoke last. */
  latest(count: number): readonly Endpoint[] {
    const byText = new Map<string, Endpoint>()
    for (const endpoint of [...this.#words.values()].reverse()) {
      if (byText.size < count) byText.set(endpointText(endpoint), endpoint)
    }
    return [...byText].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, endpoint]) => endpoint)
  }

  /** One address was seen with different ports: the NAT chooses one for each peer, and none can be told beforehand. */
  get varies(): boolean {
    const ports = new Map<string, number>()
    for (const { address, port } of this.#words.values()) {
      if ((ports.get(address) ?? port) !== port) return true
      ports.set(address, port)
    }
    return false
  }
}
