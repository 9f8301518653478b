/** Members in one process: real ledgers that hear each other's commits, and a network of streams in memory. */
import {
  heartbeatValue,
  MeshError,
  type PeerId,
  type Random,
  silentLogger,
  systemClock,
  systemRandom,
} from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { SERVED_CONNECTIONS } from '../src/limits.ts'
import { createLedger, createSigner, type Ledger } from '@mesh/ledger'
import type { ByteStream, ByteStreamOptions, ServicesNetwork } from '../src/ports.ts'
import {
  createOwnUser,
  createServices,
  createUnwritten,
  type Services,
  type ServicesInit,
} from '../src/index.ts'
import { createStreamPair } from './stream-pair.ts'

type Handler = (stream: ByteStream) => void

export interface Member {
  readonly id: PeerId
  readonly ledger: Ledger
  readonly network: ServicesNetwork
  readonly handlers: Map<string, Handler>
  /** Where others see it come from. */
  readonly address: string
  readonly components: Parameters<typeof createServices>[1]
  /** Writes a heartbeat, as replication does. */
  beat(): Promise<void>
  /** Services that `close` of the world stops. */
  services(init: ServicesInit): Promise<Services>
}

export interface World {
  /** Joins a member; one that `isDeaf` hears no commit of the others. */
  member(init?: { readonly isDeaf?: boolean; readonly address?: string }): Promise<Member>
  /** Cuts a member off, or joins it again. */
  setReachable(member: Member, isReachable: boolean): void
  close(): Promise<void>
}

export function createWorld(random: Random = systemRandom): World {
  return new MemoryWorld(random)
}

class MemoryWorld implements World {
  readonly #random: Random
  readonly #members = new Map<PeerId, Member>()
  readonly #deaf = new Set<PeerId>()
  readonly #gone = new Set<PeerId>()
  readonly #pathListeners = new Set<(peer: PeerId) => void>()
  readonly #ends: (() => unknown)[] = []

  constructor(random: Random) {
    this.#random = random
  }

  async member({ isDeaf = false, address = '192.0.2.1' } = {}): Promise<Member> {
    const ledger = createLedger({}, { signer: createSigner(this.#random.bytes(32)) })
    const member = this.#createMember(ledger, address)
    for (const { ledger: other } of this.#members.values()) {
      ledger.merge(other.snapshot().entries(), other.self)
    }
    this.#members.set(member.id, member)
    if (isDeaf) this.#deaf.add(member.id)
    this.#share(ledger)
    this.#ends.push(
      () => ledger.stop(),
      () => member.components.user.stop(),
    )
    await member.beat()
    return member
  }

  setReachable({ id }: Member, isReachable: boolean): void {
    if (isReachable) this.#gone.delete(id)
    else this.#gone.add(id)
    for (const listener of this.#pathListeners) listener(id)
  }

  async close(): Promise<void> {
    for (const end of this.#ends.reverse()) await end()
  }

  #createMember(ledger: Ledger, address: string): Member {
    const id = ledger.self
    const handlers = new Map<string, Handler>()
    const network = this.#networkOf(id, handlers)
    const announce = (bucket: string, key: string, valueText: () => string) => {
      try {
        void ledger.put(bucket, key, valueText()).settled
      } catch {
        // another member's
      }
      return () => {}
    }
    const components = {
      ledger,
      network,
      announce,
      user: createOwnUser({ ledger, announce, clock: systemClock }),
      connections: new Scope(SERVED_CONNECTIONS),
      unwritten: createUnwritten(),
      ownAddresses: () => [],
      clock: systemClock,
      random: this.#random,
      log: silentLogger,
    }
    const ends = this.#ends
    return {
      id,
      ledger,
      network,
      handlers,
      address,
      components,
      async beat() {
        await ledger.put('healthcheck', id, heartbeatValue(systemClock.now())).settled
      },
      async services(init) {
        const services = createServices(init, components)
        ends.push(() => services.stop())
        await services.start()
        return services
      },
    }
  }

  /** Others hear what this ledger commits itself. */
  #share(ledger: Ledger): void {
    ledger.subscribe((event) => {
      if (event.type !== 'committed') return
      const own = event.changes.filter(({ origin }) => origin === 'local')
      if (own.length === 0) return
      for (const { id, ledger: other } of this.#members.values()) {
        if (other !== ledger && !this.#deaf.has(id)) other.merge(own, ledger.self)
      }
    })
  }

  #networkOf(self: PeerId, handlers: Map<string, Handler>): ServicesNetwork {
    const isReachable = (peer: PeerId) => this.#members.has(peer) && !this.#gone.has(peer)
    const reach = (peer: PeerId) => {
      const member = this.#members.get(peer)
      if (member !== undefined && isReachable(peer) && !this.#gone.has(self)) return member
      throw new MeshError('p2p.unreachable', 'the peer cannot be reached')
    }
    return {
      self,
      streams: {
        async handle(protocol: string, _options: ByteStreamOptions, handler: Handler) {
          handlers.set(protocol, handler)
        },
        async open(peer, protocol) {
          const handler = reach(peer).handlers.get(protocol)
          if (handler === undefined)
            throw new MeshError('p2p.unsupported', 'the peer does not speak the protocol')
          const { near, far } = createStreamPair(self, peer)
          queueMicrotask(() => handler(far))
          return near
        },
        prepare() {},
      },
      speaks: (peer, protocol) => this.#members.get(peer)?.handlers.has(protocol),
      async connect(peer) {
        reach(peer)
      },
      pathOf: (peer) => (isReachable(peer) ? { path: 'direct', transport: 'memory', rttMs: 0 } : undefined),
      addressOf: (peer) => this.#members.get(peer)?.address,
      onPath: (listener) => {
        this.#pathListeners.add(listener)
        return () => this.#pathListeners.delete(listener)
      },
    }
  }
}
