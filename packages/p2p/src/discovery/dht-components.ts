/** The host as the DHT sees it: dials within bounds, a bounded number of records, streams freed at their end. */
import type { AbortOptions, PeerId, Stream, StreamHandler } from '@libp2p/interface'
import type { ConnectionManager, Registrar } from '@libp2p/interface-internal'
import type { LoopBudget } from '@mesh/core/limits'

interface DhtComponents {
  readonly connectionManager: ConnectionManager
  readonly registrar: Registrar
  readonly ping: { ping(peer: PeerId, options?: AbortOptions): Promise<number> }
  readonly datastore: object
}

interface DhtComponentsInit {
  /** Resolves when a connection to the peer stands. */
  readonly connect: (peer: PeerId, options: AbortOptions) => Promise<unknown>
  /** Dials and looks at peers wait for it: one answer may name hundreds of peers. */
  readonly budget: Pick<LoopBudget, 'turn'>
  readonly maxRecords: number
}

export function dhtComponents<T extends DhtComponents>(components: T, init: DhtComponentsInit): T {
  return standFor<DhtComponents>(components, {
    ...dialling(components, init),
    registrar: releasingEnded(components.registrar),
    datastore: boundRecords(components.datastore, init.maxRecords),
  }) as T
}

/** Has the DHT dial as this node dials: answers invent peers at the address of a third party. */
function dialling({ connectionManager, ping }: DhtComponents, { connect, budget }: DhtComponentsInit) {
  const connectInTurn = async (peer: PeerId, options: AbortOptions) => {
    await budget.turn('background')
    await connect(peer, options)
  }
  const isDialable: ConnectionManager['isDialable'] = async (...asked) => {
    await budget.turn('background')
    return await connectionManager.isDialable(...asked)
  }
  const openStream: ConnectionManager['openStream'] = async (peer, protocol, options = {}) => {
    await connectInTurn(peer as PeerId, options)
    return await connectionManager.openStream(peer, protocol, options)
  }
  return {
    connectionManager: standFor(connectionManager, { isDialable, openStream }),
    ping: {
      async ping(peer: PeerId, options: AbortOptions = {}) {
        await connectInTurn(peer, options)
        return await ping.ping(peer, options)
      },
    },
  }
}

/** Gives the handler of the DHT stand-ins for streams: it holds each for ten seconds, with all that nobody read of it. */
function releasingEnded(registrar: Registrar): Registrar {
  const handle: Registrar['handle'] = async (protocol, take, options) => {
    const handler: StreamHandler = async (stream, connection) => {
      const { standIn, release } = standInFor(stream)
      try {
        await take(standIn, connection)
      } finally {
        release()
      }
    }
    await registrar.handle(protocol, handler, options)
  }
  return standFor(registrar, { handle })
}

/** Gives an object in place of a stream until it is released; its methods then do nothing. */
function standInFor(stream: Stream): { readonly standIn: Stream; release(): void } {
  let inner: Stream | undefined = stream
  const standIn = new Proxy({} as Stream, {
    get(_, key) {
      if (inner === undefined) return () => {}
      const value: unknown = Reflect.get(inner, key)
      return typeof value === 'function' ? value.bind(inner) : value
    },
    has: (_, key) => inner !== undefined && key in inner,
  })
  return { standIn, release: () => (inner = undefined) }
}

/** The key of a datastore. */
interface RecordKey {
  toString(): string
}

interface RecordStore {
  put(key: RecordKey, ...rest: readonly unknown[]): unknown
  delete(key: RecordKey, ...rest: readonly unknown[]): unknown
}

/** Gives a store that keeps at most so many of the records put by it: the oldest go. */
export function boundRecords<T extends object>(store: T, most: number): T {
  const keys = new Map<string, RecordKey>()
  const inner = store as T & RecordStore
  return standFor<T & RecordStore>(inner, {
    async put(key, ...rest) {
      keys.delete(key.toString())
      keys.set(key.toString(), key)
      const put = await inner.put(key, ...rest)
      for (const [text, oldest] of keys) {
        if (keys.size <= most) break
        keys.delete(text)
        await inner.delete(oldest)
      }
      return put
    },
    delete(key, ...rest) {
      keys.delete(key.toString())
      return inner.delete(key, ...rest)
    },
  } as Partial<T & RecordStore>)
}

/** Gives an object with some parts of another one replaced. */
function standFor<T extends object>(whole: T, parts: Partial<T>): T {
  return Object.create(
    whole,
    Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, { value }])),
  ) as T
}
