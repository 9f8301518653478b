/** Lists of what the ledger tells and whom the node knows: whole, in pieces where they are large, or page by page. */
import { type DnsView, dnsRecordsByName } from '@mesh/api-contract'
import { BUCKETS, serviceRecord, userRecord } from '@mesh/core'
import { furtherProviders, type KeyedEntry } from '@mesh/ledger'
import { MAX_SHOWN_PROVIDERS } from '../limits.ts'
import { bodyOf, listParts } from '../views/answer-parts.ts'
import { tryParseJson } from '../views/json-text.ts'
import { entriesAfter } from '../views/ledger-pages.ts'
import { isTextRecord } from '../views/ledger-text.ts'
import type { Machine } from '../views/machine-list.ts'
import { machineViewer, onlineNodes, peerstoreViews, peerViews, type Scene } from '../views/members.ts'
import { inOrder, isPaged, type PageQuery, takePage } from '../views/page.ts'
import { type HandlersOf, type PreparedAnswer, prepared } from './handler.ts'

/** The routes that answer with a list. */
export type ListIds =
  | 'listUsers'
  | 'listServices'
  | 'listFiles'
  | 'listMachines'
  | 'listNodes'
  | 'listPeerstore'
  | 'listPeers'
  | 'listDns'

export function createLists(scene: () => Scene): HandlersOf<ListIds> {
  const named = (value: unknown) => {
    const record = serviceRecord.safeParse(value).data
    return record && { PeerID: record.PeerID, Name: record.Name }
  }
  return {
    listUsers: (page) => bucketList(scene(), { ...page, bucket: BUCKETS.users, view: userView }),
    listServices(page) {
      const now = scene()
      const view = (value: unknown, name: string) => {
        const shown = named(value)
        const further = shown === undefined ? [] : furtherOf(now, name)
        return shown && { ...shown, ...(further.length > 0 && { Providers: further }) }
      }
      return bucketList(now, { ...page, bucket: BUCKETS.services, view })
    },
    listFiles: (page) => bucketList(scene(), { ...page, bucket: BUCKETS.files, view: named }),
    listDns: (page) => bucketList(scene(), { ...page, bucket: BUCKETS.dns, view: dnsView }),
    listMachines: async (page) => {
      await scene().machines.caughtUp()
      const now = scene()
      const idOf = ({ record }: Machine) => record.PeerID
      const rows = isPaged(page) ? now.machines.all() : now.machines.inOrder()
      return peerList(rows, page, { idOf, viewOf: machineViewer(now) })
    },
    listNodes: (page) => {
      const ids = onlineNodes(scene())
      const rows = isPaged(page) ? ids : inOrder(ids, (a, b) => a < b)
      return peerList(rows, page, { idOf: (id) => id, viewOf: (ID) => ({ ID, Online: true }) })
    },
    listPeerstore: (page) => peerList(peerstoreViews(scene()), page, AS_THEY_ARE),
    listPeers: async (page) => {
      await scene().machines.caughtUp()
      return peerList(peerViews(scene()), page, AS_THEY_ARE)
    },
  }
}

interface PeerRows<Row> {
  readonly idOf: (row: Row) => string
  /** Called for the rows that are shown, as they are shown. */
  readonly viewOf: (row: Row) => unknown
}

const AS_THEY_ARE: PeerRows<{ readonly ID: string }> = { idOf: ({ ID }) => ID, viewOf: (view) => view }

interface BucketList extends PageQuery<string> {
  readonly bucket: string
  /** Undefined for values that are no record of the bucket's kind: these are left out, and ledger reads show them. */
  readonly view: (value: unknown, key: string) => unknown
}

function bucketList({ snapshot }: Scene, { bucket, view, ...page }: BucketList): PreparedAnswer {
  const viewOf = ({ key, entry }: KeyedEntry) =>
    entry.deleted ? undefined : view(tryParseJson(entry.value), key)
  const costOf = ({ entry }: KeyedEntry) => entry.value.length
  if (!isPaged(page))
    return prepared({ body: bodyOf(() => listParts(snapshot.entries(bucket), viewOf, costOf)) })
  const { rows, last } = takePage(entriesAfter(snapshot, bucket, page.after), page.limit, (row) => {
    const shown = viewOf(row)
    return { text: shown === undefined ? '' : JSON.stringify(shown), cost: costOf(row) }
  })
  return listAnswer(rows, last?.key)
}

/** Whole lists keep their order; pages are in the order of peer ids, after which one can go on. */
function peerList<Row>(
  all: Iterable<Row>,
  page: PageQuery<string>,
  { idOf, viewOf }: PeerRows<Row>,
): PreparedAnswer {
  if (!isPaged(page)) return prepared({ body: bodyOf(() => listParts(all, viewOf)) })
  const { after = '' } = page
  const following = [...all].filter((row) => idOf(row) > after)
  const sorted = inOrder(following, (a, b) => idOf(a) < idOf(b))
  const { rows, last } = takePage(sorted, page.limit, (row) => ({ text: JSON.stringify(viewOf(row)) }))
  return listAnswer(rows, last && idOf(last))
}

function listAnswer(rows: readonly { readonly text: string }[], next: string | undefined): PreparedAnswer {
  return prepared({ body: `[${rows.map(({ text }) => text).join(',')}]\n`, next })
}

function userView(value: unknown) {
  const user = userRecord.safeParse(value).data
  return user && { PeerID: user.PeerID, Timestamp: user.Timestamp }
}

function dnsView(value: unknown, key: string): DnsView | undefined {
  return isTextRecord(value) ? { Regex: key, Records: dnsRecordsByName(value) } : undefined
}

/** Lists the live members that offer a service beside the owner of its key; a bounded number. */
function furtherOf({ snapshot, now }: Scene, name: string): readonly string[] {
  const peers: string[] = []
  for (const { peer } of furtherProviders(snapshot, { bucket: BUCKETS.services, name, now })) {
    if (peers.push(peer) >= MAX_SHOWN_PROVIDERS) break
  }
  return peers
}
