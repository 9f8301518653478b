/**
 * Asks a DHT who provides a key, and reads all answers. Bounds the questions of others to this node's by address and in all,
 * and answers them when the event loop has time.
 *
 * @library @libp2p/kad-dht 16.4.5
 * @wraps `KadDHT.contentRouting`, its `findProviders` and `routingTable`; `KadDHT.rpc.handleMessage`
 * @without A liar hides all members: the library stops at the first answer that names twenty providers. Strangers keep the
 * node busy: a stream may carry any number of questions, and each looks through all records.
 * @shown `upstream/kad-dht/providers.test.ts`, `upstream/kad-dht/questions.test.ts`, `npm run attack -- dht-records`
 */
import type { AbortOptions, Libp2p, PeerId, PeerInfo } from '@libp2p/interface'
import type { Clock } from '@mesh/core'
import { createRate, loopBudget } from '@mesh/core/limits'
import type { CID } from 'multiformats/cid'
import { addressGroupOf } from '../../addresses/address-group.ts'
import { DHT_QUESTIONS, DHT_RECORDS } from '../limits.ts'
import { openInner } from '../inner-names.ts'

const LIBRARY = '@libp2p/kad-dht 16.4.5'

/** An event of a question; an answer names its peer and the providers. */
interface QueryEvent {
  readonly name: string
  readonly from?: PeerId
  readonly providers?: readonly PeerInfo[]
}

interface ContentRouting {
  readonly routingTable: object
  findProviders(key: CID, options: AbortOptions): AsyncIterable<QueryEvent>
}

/** Providers that one peer named. */
interface ProvidersAnswer {
  readonly from: PeerId
  readonly providers: readonly PeerInfo[]
}

export type AskForProviders = (key: CID, options: AbortOptions) => AsyncIterable<ProvidersAnswer>

/** Gives what asks a DHT; the first answer may be this node's own. @throws MeshError `p2p.incompatible_library` */
export function providersOf(dht: object): AskForProviders {
  const { contentRouting } = openInner<{ contentRouting: object }>(LIBRARY, dht, ['contentRouting'])
  const { routingTable } = openInner<ContentRouting>(LIBRARY, contentRouting, ['routingTable'])
  // the method of the object may be bound to it
  const { findProviders } = openInner<ContentRouting>(LIBRARY, Object.getPrototypeOf(contentRouting), [
    'findProviders',
  ])
  // the library looks for as many providers as a bucket has peers
  const endless = Object.create(routingTable, { kBucketSize: { value: Number.POSITIVE_INFINITY } }) as object
  const routing = Object.create(contentRouting, { routingTable: { value: endless } }) as ContentRouting
  return async function* (key, options) {
    for await (const { name, from, providers = [] } of findProviders.call(routing, key, options))
      if (name === 'PEER_RESPONSE' && from !== undefined && providers.length > 0) yield { from, providers }
  }
}

interface Rpc {
  handleMessage(asker: PeerId, question: { readonly type: string }): Promise<unknown>
}

/** Questions that leave a record. */
const LEAVING: ReadonlySet<string> = new Set(['ADD_PROVIDER', 'PUT_VALUE'])

/** A question too many ends its stream. @throws MeshError `p2p.incompatible_library` */
export function boundQuestions(dht: object, host: Pick<Libp2p, 'getConnections'>, clock: Clock): void {
  const rpc = openInner<Rpc>(LIBRARY, (dht as { readonly rpc?: Rpc }).rpc, ['handleMessage'])
  const handle = rpc.handleMessage.bind(rpc)
  const [questions, records] = [createRate(DHT_QUESTIONS, clock), createRate(DHT_RECORDS, clock)]
  rpc.handleMessage = async (asker, question) => {
    const [connection] = host.getConnections(asker)
    const address = connection && addressGroupOf(connection)
    const rate = LEAVING.has(question.type) ? records : questions
    if (address === undefined || !rate.take({ address })) throw new Error('too many questions')
    return await loopBudget(clock).run('strangers', () => handle(asker, question), { key: address })
  }
}
