/** Where peers saw one socket of this node, and for how long: their answers to probes say so. Pure. */
import type { PeerId } from '@mesh/core'
import { type Endpoint, endpointText } from '@mesh/engine'
import { WORD_MS } from './limits.ts'

/** How many peers' words are kept. */
const MAX_WITNESSES = 16

/** Compares what a peer says of the socket with what it said before. */
export type Word =
  | { readonly is: 'first' }
  /** `sinceMs`: for how long it has said so. */
  | { readonly is: 'same'; readonly sinceMs: number }
  /** It sees another address. `lived`: of the one before; undefined: it was not asked for a while. `isElsewhere`: not the port alone differs. */
  | { readonly is: 'other'; readonly lived: Lived | undefined; readonly isElsewhere: boolean }

/** How long a peer saw one address of the socket. */
export interface Lived {
  readonly forMs: number
  /** When the peer told it last, in monotonic ms. */
  readonly toldAt: number
}

interface Witnessed {
  readonly endpoint: Endpoint
  /** No NAT is between: it was an address of this machine. */
  readonly isOwn: boolean
  /** When it was told first, and last. */
  readonly bornAt: number
  readonly toldAt: number
}

export class SeenAddresses {
  /** The address that each witness told, the latest word last. */
  readonly #words = new Map<PeerId, Witnessed>()
  readonly #port: () => number | undefined

  /** @param port the socket's own; undefined: it has none now */
  constructor(port: () => number | undefined) {
    this.#port = port
  }

  /** Takes a peer's word. @param isOwn no NAT is between: it is an address of this machine */
  learn(
    witness: PeerId,
    endpoint: Endpoint,
    { now, isOwn }: { readonly now: number; readonly isOwn: boolean },
  ): Word {
    const before = this.#words.get(witness)
    const isSame = before !== undefined && endpointText(before.endpoint) === endpointText(endpoint)
    this.#words.delete(witness)
    this.#words.set(witness, { endpoint, isOwn, bornAt: isSame ? before.bornAt : now, toldAt: now })
    const [oldest] = this.#words.keys()
    if (this.#words.size > MAX_WITNESSES && oldest !== undefined) this.#words.delete(oldest)
    if (before === undefined) return { is: 'first' }
    if (isSame) return { is: 'same', sinceMs: now - before.bornAt }
    const wasAsked = now - before.toldAt <= WORD_MS
    const { bornAt, toldAt } = before
    const isElsewhere = before.endpoint.address !== endpoint.address
    return { is: 'other', lived: wasAsked ? { forMs: toldAt - bornAt, toldAt } : undefined, isElsewhere }
  }

  forget(witness: PeerId): void {
    this.#words.delete(witness)
  }

  clear(): void {
    this.#words.clear()
  }

  /** When the oldest address of those was told first that are still told; undefined: none is. */
  oldest(now: number): number | undefined {
    const told = [...this.#words.values()].filter(({ toldAt }) => now - toldAt <= WORD_MS)
    return told.length === 0 ? undefined : Math.min(...told.map(({ bornAt }) => bornAt))
  }

  /** The latest `count` addresses, each once, in an order that does not change with who spoke last. */
  latest(count: number): readonly Endpoint[] {
    const byText = new Map<string, Endpoint>()
    for (const { endpoint } of [...this.#words.values()].reverse()) {
      if (byText.size < count) byText.set(endpointText(endpoint), endpoint)
    }
    return [...byText].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, endpoint]) => endpoint)
  }

  /** Where a NAT was seen since then, each address once, the one that was told last first. */
  natsSince(from: number): readonly Endpoint[] {
    const byText = new Map<string, Endpoint>()
    for (const { endpoint, isOwn, toldAt } of [...this.#words.values()].reverse()) {
      if (!isOwn && toldAt >= from) byText.set(endpointText(endpoint), endpoint)
    }
    return [...byText.values()]
  }

  /**
   * One address was seen with different ports: the NAT chooses one for each peer, and none can be told beforehand. One
   * peer alone cannot show that: a port other than the socket's own counts then, as such NATs keep none.
   */
  get varies(): boolean {
    const [first, ...others] = this.#words.values()
    if (others.length === 0) return first?.isOwn === false && first.endpoint.port !== this.#port()
    const ports = new Map<string, number>()
    for (const { endpoint } of this.#words.values()) {
      const { address, port } = endpoint
      if ((ports.get(address) ?? port) !== port) return true
      ports.set(address, port)
    }
    return false
  }
}
