/**
 * Asks a DHT who provides something, and goes on to the end. @libp2p/kad-dht 16.4.5 ends as soon as twenty were named: whoever
 * answers first with as many that there are not has nobody else heard.
 * Report to send: 'findProviders stops at the first answer that names kBucketSize providers'.
 *
 * Reaches into `KadDHT.contentRouting`, its class's `findProviders` and its `routingTable`; where they are missing the library ends
 * as it does. Without it `dht-providers.test.ts` fails.
 */
import type { AbortOptions, PeerId, PeerInfo } from '@libp2p/interface'
import type { CID } from 'multiformats/cid'

/** An event of a question, as far as it is used: an answer names its peer and whom it told of. */
interface QueryEvent {
  readonly name: string
  readonly from?: PeerId
  readonly providers?: readonly PeerInfo[]
}

interface ContentRouting {
  readonly routingTable?: object
  findProviders?(key: CID, options: AbortOptions): AsyncIterable<QueryEvent>
}

interface Answer {
  readonly from: PeerId
  readonly providers: readonly PeerInfo[]
}

/** Yields each answer, those that name nobody aside; the first may be what this node holds itself. */
export async function* askForProviders(
  dht: { findProviders(key: CID, options: AbortOptions): AsyncIterable<QueryEvent> },
  key: CID,
  options: AbortOptions,
): AsyncGenerator<Answer> {
  for await (const event of eventsOf(dht, key, options)) {
    const { name, from, providers = [] } = event
    if (name === 'PEER_RESPONSE' && from !== undefined && providers.length > 0) yield { from, providers }
  }
}

function eventsOf(
  dht: Parameters<typeof askForProviders>[0],
  key: CID,
  options: AbortOptions,
): AsyncIterable<QueryEvent> {
  const { contentRouting } = dht as { readonly contentRouting?: ContentRouting }
  const { routingTable } = contentRouting ?? {}
  if (contentRouting === undefined || routingTable === undefined) return dht.findProviders(key, options)
  // how many it looks for is how many peers a bucket has
  const endless = Object.create(routingTable, { kBucketSize: { value: Number.POSITIVE_INFINITY } }) as object
  const routing = Object.create(contentRouting, { routingTable: { value: endless } }) as ContentRouting
  // the method of an object may be bound to it
  const { findProviders } = Object.getPrototypeOf(contentRouting) as ContentRouting
  return findProviders === undefined
    ? dht.findProviders(key, options)
    : findProviders.call(routing, key, options)
}
