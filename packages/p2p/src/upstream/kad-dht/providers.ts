/**
 * Asks a DHT who provides a key, and reads all answers.
 *
 * @library @libp2p/kad-dht 16.4.5
 * @wraps `KadDHT.contentRouting`, its `findProviders` and `routingTable`
 * @without A liar hides all members: the library stops at the first answer that names twenty providers.
 * @shown `upstream/kad-dht/providers.test.ts`
 */
import type { AbortOptions, PeerId, PeerInfo } from '@libp2p/interface'
import type { CID } from 'multiformats/cid'
import { openInner } from '../inner-names.ts'

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
  const library = '@libp2p/kad-dht 16.4.5'
  const { contentRouting } = openInner<{ contentRouting: object }>(library, dht, ['contentRouting'])
  const { routingTable } = openInner<ContentRouting>(library, contentRouting, ['routingTable'])
  // the method of the object may be bound to it
  const { findProviders } = openInner<ContentRouting>(library, Object.getPrototypeOf(contentRouting), [
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
