/** Lists of what the ledger tells and whom the node knows: whole, in pieces where they are large, or page by page. */
import { type DnsView, dnsRecordsByName } from '@mesh/api-contract'
import { BUCKETS, serviceRecord, userRecord } from '@mesh/core'
import type { KeyedEntry } from '@mesh/ledger'
import { bodyOf, listParts } from '../views/answer-parts.ts'
import { tryParseJson } from '../views/json-text.ts'
import { entriesAfter } from '../views/ledger-pages.ts'
import { isTextRecord } from '../views/ledger-text.ts'
import { machineViews, nodeViews, peerstoreViews, peerViews, type Scene } from '../views/members.ts'
import { isPaged, type PageQuery, takePage } from '../views/page.ts'
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
    listServices: (page) => bucketList(scene(), { ...page, bucket: BUCKETS.services, view: named }),
    listFiles: (page) => bucketList(scene(), { ...page, bucket: BUCKETS.files, view: named }),
    listDns: (page) => bucketList(scene(), { ...page, bucket: BUCKETS.dns, view: dnsView }),
    listMachines: (page) => peerList(machineViews(scene()), page, ({ PeerID }) => PeerID),
    listNodes: (page) => peerList(nodeViews(scene()), page, ({ ID }) => ID),
    listPeerstore: (page) => peerList(peerstoreViews(scene()), page, ({ ID }) => ID),
    listPeers: (page) => peerList(peerViews(scene()), page, ({ ID }) => ID),
  }
}

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
function peerList<View>(
  views: readonly View[],
  page: PageQuery<string>,
  idOf: (view: View) => string,
): PreparedAnswer {
  if (!isPaged(page)) return prepared({ body: bodyOf(() => listParts(views, (view) => view)) })
  const { after = '' } = page
  const sorted = views.filter((view) => idOf(view) > after).toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
  const { rows, last } = takePage(sorted, page.limit, (view) => ({ text: JSON.stringify(view) }))
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
