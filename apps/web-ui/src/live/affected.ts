import { BUCKETS } from '@mesh/core'
import type { ApiEvent, EventData, RouteId } from '@mesh/api-contract'

/** Tells what an event makes old: reads by route, and keys of the ledger one by one. */
export interface Affected {
  readonly all: boolean
  readonly routes: ReadonlySet<RouteId>
  /** Keys that changed, by bucket; true: deleted, so there is nothing to ask for. */
  readonly keys: ReadonlyMap<string, ReadonlyMap<string, boolean>>
  /** Index of the last block, which needs no question. */
  readonly block: number | undefined
}

/** The reads that show a bucket under another name. */
const READS_OF_BUCKET: Readonly<Record<string, readonly RouteId[]>> = {
  machines: ['listMachines', 'getSummary', 'resolveName', 'getRules', 'listWhoReaches'],
  routes: ['getRules', 'listWhoReaches'],
  services: ['listServices', 'getSummary', 'resolveName'],
  providers: ['listServices', 'listNodeConnections', 'resolveName'],
  files: ['listFiles', 'getSummary'],
  users: ['listUsers', 'getSummary'],
  dns: ['listDns', 'resolveName'],
  admission: ['getAdmission', 'getRules', 'listWhoReaches'],
  trustzone: ['getAdmission'],
}

/** Sums up events that arrived together. */
export function affectedBy(events: readonly ApiEvent[]): Affected {
  const routes = new Set<RouteId>()
  const keys = new Map<string, Map<string, boolean>>()
  let all = false
  let block: number | undefined
  for (const event of events) {
    switch (event.type) {
      case 'gap':
        all = true
        break
      case 'block.committed':
        block = event.data.Index
        // with ownership off a block may replace the one of its index
        addAll(routes, ['listBlocks', 'getKeptBlock'])
        break
      case 'ledger.changed':
        // the keys that are not named may be in any bucket
        if (event.data.More > 0) all = true
        for (const change of event.data.Changes) addChange(change, routes, keys)
        break
      case 'service.changed':
        addAll(routes, ['listNodeServices', 'getHealth'])
        break
      case 'connection.changed':
        addAll(routes, ['listNodeConnections', 'getHealth'])
        break
      case 'file.changed':
        routes.add('listNodeFiles')
        break
      case 'access.changed':
        addAll(routes, ['getAdmission', 'getHealth'])
        break
      case 'rules.refused':
        routes.add('getRules')
        break
      case 'ledger.rejected':
      case 'ledger.conflict':
        routes.add('getHealth')
        break
      case 'machine.path':
        routes.add('listPeers')
        break
      case 'peer.refused':
        routes.add('getHealth')
        break
      case 'peer.connected':
      case 'peer.disconnected':
        addAll(routes, ['listPeers', 'listNodes', 'listPeerstore', 'getSummary', 'getHealth', 'getAdmission'])
        break
      case 'machine.online':
      case 'machine.offline':
        addAll(routes, ['listPeers', 'listNodes', 'listMachines', 'resolveName', 'getHealth'])
        break
    }
  }
  return { all, routes, keys, block }
}

function addChange(
  { Bucket: bucket, Key: key, Deleted: deleted }: EventData<'ledger.changed'>['Changes'][number],
  routes: Set<RouteId>,
  keys: Map<string, Map<string, boolean>>,
): void {
  const changed = keys.get(bucket) ?? new Map<string, boolean>()
  keys.set(bucket, changed.set(key, deleted))
  // Heartbeats change this bucket all the time and nothing else with it; who is online comes as an event of its own.
  if (bucket === BUCKETS.healthcheck) return
  routes.add('getDigest')
  if (Object.hasOwn(READS_OF_BUCKET, bucket)) addAll(routes, READS_OF_BUCKET[bucket] ?? [])
}

function addAll(set: Set<RouteId>, ids: readonly RouteId[]): void {
  for (const id of ids) set.add(id)
}
