/**
 * Bounds what others may ask of this node's DHT and leave in it: by the address that they come from, of all together,
 * and in number. @libp2p/kad-dht 16.4.5 answers every question on a stream for as long as they come, keeps every record
 * for two days, and looks through all of them for each question. It keeps a stream that has ended, and what nobody read of
 * it, until the time for its next question is over, which is ten seconds.
 * Report to send: 'RPC.onIncomingStream leaves its abort listener on AbortSignal.timeout when the stream has ended'.
 *
 * Reaches into `KadDHT.rpc.handleMessage` and `KadDHT.rpc.onIncomingStream`; where they are missing questions are not
 * bounded, and streams are kept. Without it `dht-bounds.test.ts` fails; `npm run attack -- dht-records` makes such questions.
 */
import type { Connection, Libp2p, PeerId, Stream } from '@libp2p/interface'
import { type Clock, TimeShare } from '@mesh/core'
import { createAddressRate } from '../addresses/address-rate.ts'
import {
  DHT_BURST_MS,
  DHT_QUESTIONS_BY_ADDRESS,
  DHT_QUESTIONS_IN_ALL,
  DHT_RECORDS_BY_ADDRESS,
  DHT_RECORDS_IN_ALL,
  DHT_TIME_SHARE,
} from '../limits.ts'

interface Question {
  readonly type: string
}

interface Rpc {
  handleMessage?: (asker: PeerId, question: Question) => Promise<unknown>
  onIncomingStream?: (stream: Stream, connection: Connection) => Promise<void>
}

/** The questions that leave a record. */
const LEAVING: ReadonlySet<string> = new Set(['ADD_PROVIDER', 'PUT_VALUE'])

/** Bounds the questions of others, and the time that answering them takes; one too many ends its stream. */
export function boundQuestions(dht: object, host: Pick<Libp2p, 'getConnections'>, clock: Clock): void {
  const { rpc } = dht as { readonly rpc?: Rpc }
  const handle = rpc?.handleMessage?.bind(rpc)
  if (rpc === undefined || handle === undefined) return
  const mayAsk = createAddressRate({ perAddress: DHT_QUESTIONS_BY_ADDRESS, all: DHT_QUESTIONS_IN_ALL }, clock)
  const mayLeave = createAddressRate({ perAddress: DHT_RECORDS_BY_ADDRESS, all: DHT_RECORDS_IN_ALL }, clock)
  // hundreds of questions come in one block of bytes, and nothing between them waits for anything
  const time = new TimeShare({ burstMs: DHT_BURST_MS, oneIn: DHT_TIME_SHARE }, clock)
  const { signal } = new AbortController()
  rpc.handleMessage = async (asker, question) => {
    const [connection] = host.getConnections(asker)
    const mayDo = LEAVING.has(question.type) ? mayLeave : mayAsk
    if (connection === undefined || !mayDo(connection)) throw new Error('too many questions')
    return await time.run(DHT_BURST_MS, signal, () => handle(asker, question))
  }
}

/** Has a DHT let go of the streams that have ended; to be called before it starts. */
export function releaseEnded(dht: object): void {
  const { rpc } = dht as { readonly rpc?: Rpc }
  const take = rpc?.onIncomingStream?.bind(rpc)
  if (rpc === undefined || take === undefined) return
  rpc.onIncomingStream = async (stream, connection) => {
    const { standIn, release } = standInFor(stream)
    try {
      await take(standIn, connection)
    } finally {
      release()
    }
  }
}

/** Gives what stands for a stream until it is released; who calls a method of it then does nothing. */
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

/** The key of a datastore, as far as the library uses it. */
interface RecordKey {
  toString(): string
}

interface RecordStore {
  put(key: RecordKey, ...rest: readonly unknown[]): unknown
  delete(key: RecordKey, ...rest: readonly unknown[]): unknown
}

/** The same store, which keeps at most so many records that are put by this function's result. */
export function boundRecords<T extends object>(store: T, most: number): T {
  const keys = new Map<string, RecordKey>()
  const inner = store as unknown as RecordStore
  return Object.create(store, {
    put: {
      async value(key: RecordKey, ...rest: readonly unknown[]) {
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
    },
    delete: {
      value(key: RecordKey, ...rest: readonly unknown[]) {
        keys.delete(key.toString())
        return inner.delete(key, ...rest)
      },
    },
  }) as T
}
