/**
 * Bounds the questions of others to this node's DHT by address and in all, and answers them when the event loop has time.
 *
 * @library @libp2p/kad-dht 16.4.5
 * @wraps `KadDHT.rpc.handleMessage`
 * @without Strangers keep the node busy: a stream may carry any number of questions, and each looks through all records.
 * @shown `upstream/kad-dht/questions.test.ts`, `npm run attack -- dht-records`
 */
import type { Libp2p, PeerId } from '@libp2p/interface'
import type { Clock } from '@mesh/core'
import { createRate, loopBudget } from '@mesh/core/limits'
import { addressGroupOf } from '../../addresses/address-group.ts'
import { DHT_QUESTIONS, DHT_RECORDS } from '../limits.ts'
import { openInner } from '../inner-names.ts'

interface Rpc {
  handleMessage(asker: PeerId, question: { readonly type: string }): Promise<unknown>
}

/** Questions that leave a record. */
const LEAVING: ReadonlySet<string> = new Set(['ADD_PROVIDER', 'PUT_VALUE'])

/** A question too many ends its stream. @throws MeshError `p2p.incompatible_library` */
export function boundQuestions(dht: object, host: Pick<Libp2p, 'getConnections'>, clock: Clock): void {
  const rpc = openInner<Rpc>('@libp2p/kad-dht 16.4.5', (dht as { readonly rpc?: Rpc }).rpc, ['handleMessage'])
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
