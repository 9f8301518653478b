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
import { createLedger, createSigner, type Ledger } from '@mesh/ledger'
import type { ByteStream, ByteStreamOptions, ServicesNetwork } from '../src/ports.ts'
import { createOwnUser, createServices, createSlots, type Services, type ServicesInit } from '../src/index.ts'
import { createStreamPair } from './stream-pair.ts'

type Handler = (stream: ByteStream) => void

export interface Member {
  readonly id: PeerId
  readonly ledger: Ledger
  readonly network: ServicesNetwork
  readonly handlers: Map<string, Handler>
  readonly components: Parameters<typeof createServices>[1]
  /** Writes a heartbeat, as replication does. */
  beat(): Promise<void>
  /** Services that `close` of the world stops. */
  services(init: ServicesInit): Promise<Services>
}

export interface World {
  /** @param speaks protocols in place of those that it serves */
  member(init?: { readonly isDeaf?: boolean }): Promise<Member>
  /** Cuts a member off, or joins it again. */
  setReachable(member: Member, isReachable: boolean): void
  close(): Promise<void>
}

export function createWorld(random: Random = systemRandom): World {
  const members = new Map<PeerId, Member>()
  const deaf = new Set<PeerId>()
  const gone = new Set<PeerId>()
  const paths = new Set<(peer: PeerId) => void>()
  const ends: (() => unknown)[] = []

  function share(ledger: Ledger): void {
    ledger.subscribe((event) => {
      if (event.type !== 'committed') return
      const own = event.changes.filter(({ origin }) => origin === 'local')
      if (own.length === 0) return
      for (const { id, ledger: other } of members.values()) {
        if (other !== ledger && !deaf.has(id)) other.merge(own, ledger.self)
      }
    })
  }

  const unreachable = () => new MeshError('p2p.unreachable', 'the peer cannot be reached')

  function networkOf(self: PeerId, handlers: Map<string, Handler>): ServicesNetwork {
    const reach = (peer: PeerId) => {
      const member = members.get(peer)
      if (member === undefined || gone.has(peer) || gone.has(self)) throw unreachable()
      return member
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
      },
      speaks: (peer, protocol) => members.get(peer)?.handlers.has(protocol),
      async connect(peer) {
        reach(peer)
      },
      pathOf: (peer) =>
        members.has(peer) && !gone.has(peer) ? { path: 'direct', transport: 'memory', rttMs: 0 } : undefined,
      onPath(listener) {
        paths.add(listener)
        return () => paths.delete(listener)
      },
    }
  }

  return {
    async member({ isDeaf = false } = {}) {
      const ledger = createLedger({}, { signer: createSigner(random.bytes(32)) })
      const id = ledger.self
      const handlers = new Map<string, Handler>()
      const network = networkOf(id, handlers)
      const announce = (bucket: string, key: string, valueText: () => string) => {
        try {
          void ledger.put(bucket, key, valueText()).settled
        } catch {
          // another member's
        }
        return () => {}
      }
      const user = createOwnUser({ ledger, announce, clock: systemClock })
      const log = silentLogger
      const components = {
        ledger,
        network,
        announce,
        user,
        slots: createSlots(),
        clock: systemClock,
        random,
        log,
      }
      const member: Member = {
        id,
        ledger,
        network,
        handlers,
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
      for (const { ledger: other } of members.values()) ledger.merge(other.snapshot().entries(), other.self)
      members.set(id, member)
      if (isDeaf) deaf.add(id)
      share(ledger)
      ends.push(
        () => ledger.stop(),
        () => user.stop(),
      )
      await member.beat()
      return member
    },
    setReachable({ id }, isReachable) {
      if (isReachable) gone.delete(id)
      else gone.add(id)
      for (const listener of paths) listener(id)
    },
    async close() {
      for (const end of ends.reverse()) await end()
    },
  }
}
