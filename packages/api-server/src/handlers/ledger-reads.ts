import { dnsRecordsByName, type DnsView, type SummaryView } from '@mesh/api-contract'
import { BUCKETS, serviceRecord, userRecord } from '@mesh/core'
import type { Snapshot } from '@mesh/ledger'
import { Problem } from '../http/problem.ts'
import { tryParseJson } from '../views/json-text.ts'
import { isTextRecord, type LedgerBody, type LedgerText, signedEntryText } from '../views/ledger-text.ts'
import {
  machinesOf,
  machineViews,
  nodeViews,
  peerstoreViews,
  peerViews,
  type Scene,
} from '../views/members.ts'
import { type HandlersOf, prepared } from './handler.ts'

/** Decoded values, or the signed texts. */
export type ValueForm = 'json' | 'text'

type ReadIds =
  | 'getSummary'
  | 'listUsers'
  | 'listServices'
  | 'listFiles'
  | 'listMachines'
  | 'listNodes'
  | 'listPeerstore'
  | 'listPeers'
  | 'listDns'
  | 'getBlock'
  | 'getSignedEntry'
  | 'getDigest'
  | 'getLedger'
  | 'getBucket'
  | 'getEntry'

/**
 * Reads take one immutable snapshot and never wait.
 *
 * @param unsaid what values are read as where a request does not say
 */
export function createLedgerReads(
  scene: () => Scene,
  text: () => LedgerText,
  unsaid: ValueForm,
): HandlersOf<ReadIds> {
  return {
    getSummary: () => summaryView(scene()),
    listUsers: () =>
      readBucket(scene().snapshot, BUCKETS.users, (value) => pick(userRecord.safeParse(value).data)),
    listServices: () => named(scene().snapshot, BUCKETS.services),
    listFiles: () => named(scene().snapshot, BUCKETS.files),
    listMachines: () => [...machineViews(scene())],
    listNodes: () => [...nodeViews(scene())],
    listPeerstore: () => [...peerstoreViews(scene())],
    listPeers: () => [...peerViews(scene())],
    listDns: () => readBucket(scene().snapshot, BUCKETS.dns, dnsView),
    getBlock: () => ledgerAnswer(text(), (form) => form.block()),
    getSignedEntry({ bucket, key }) {
      const entry = scene().snapshot.get(bucket, key)
      if (entry === undefined) throw noEntry(bucket, key)
      return ledgerAnswer(text(), () => `${signedEntryText(entry)}\n`)
    },
    getDigest() {
      const { entries, digest, buckets } = scene().snapshot.digest()
      return { Entries: entries, Digest: digest, Buckets: buckets }
    },
    getLedger: ({ values = unsaid }) => ledgerAnswer(text(), (form) => form.ledger(values), values),
    getBucket: ({ bucket, values = unsaid }) =>
      ledgerAnswer(text(), (form) => form.bucket(bucket, values), values),
    getEntry({ bucket, key, values = unsaid }) {
      const value = text().value(bucket, key, values)
      if (value === undefined) throw noEntry(bucket, key)
      return ledgerAnswer(text(), () => value, values)
    },
  }
}

function ledgerAnswer(
  text: LedgerText,
  body: (text: LedgerText) => LedgerBody | string,
  values: ValueForm = 'json',
) {
  return prepared({ body: body(text), etag: text.etag(values) })
}

function summaryView({ snapshot, self, network }: Scene): SummaryView {
  return {
    Files: snapshot.count(BUCKETS.files),
    Machines: machinesOf(snapshot).length,
    Users: snapshot.count(BUCKETS.users),
    Services: snapshot.count(BUCKETS.services),
    BlockChain: snapshot.head.index,
    OnChainNodes: network?.members().length ?? 0,
    Peers: (network?.peers().length ?? 0) + 1,
    NodeID: self,
  }
}

/** Values that are no record of the bucket's kind are left out; the ledger reads show them. */
function readBucket<View>(
  snapshot: Snapshot,
  bucket: string,
  view: (value: unknown, key: string) => View | undefined,
): View[] {
  const views: View[] = []
  for (const { key, entry } of snapshot.entries(bucket)) {
    const shown = entry.deleted ? undefined : view(tryParseJson(entry.value), key)
    if (shown !== undefined) views.push(shown)
  }
  return views
}

function named(snapshot: Snapshot, bucket: 'services' | 'files') {
  return readBucket(snapshot, bucket, (value) => {
    const record = serviceRecord.safeParse(value).data
    return record && { PeerID: record.PeerID, Name: record.Name }
  })
}

function pick(user: { readonly PeerID: string; readonly Timestamp: string } | undefined) {
  return user && { PeerID: user.PeerID, Timestamp: user.Timestamp }
}

function dnsView(value: unknown, key: string): DnsView | undefined {
  return isTextRecord(value) ? { Regex: key, Records: dnsRecordsByName(value) } : undefined
}

function noEntry(bucket: string, key: string): Problem {
  return new Problem('ledger.not_found', `no live entry ${JSON.stringify(key)} in ${JSON.stringify(bucket)}`)
}
