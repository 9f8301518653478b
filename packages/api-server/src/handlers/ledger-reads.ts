import type { SummaryView } from '@mesh/api-contract'
import { BUCKETS } from '@mesh/core'
import { Problem } from '../messages/problem.ts'
import type { AnswerBody } from '../views/answer-parts.ts'
import { blockPage, bucketPage, type LedgerPage, ledgerPage } from '../views/ledger-pages.ts'
import { type LedgerText, signedEntryText, type ValueForm } from '../views/ledger-text.ts'
import type { Scene } from '../views/members.ts'
import { isPaged } from '../views/page.ts'
import { type HandlersOf, prepared } from './handler.ts'
import { createLists, type ListIds } from './lists.ts'

type ReadIds =
  | ListIds
  | 'getSummary'
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
    ...createLists(scene),
    getSummary: async () => {
      await scene().machines.caughtUp()
      return summaryView(scene())
    },
    getBlock: (page) =>
      isPaged(page)
        ? pageAnswer(text(), blockPage(scene().snapshot, page))
        : ledgerAnswer(text(), (form) => form.block()),
    getSignedEntry({ bucket, key }) {
      const entry = scene().snapshot.get(bucket, key)
      if (entry === undefined) throw noEntry(bucket, key)
      return ledgerAnswer(text(), () => `${signedEntryText(entry)}\n`)
    },
    getDigest() {
      const { entries, digest, buckets } = scene().snapshot.digest()
      return { Entries: entries, Digest: digest, Buckets: buckets }
    },
    getLedger: ({ values = unsaid, ...page }) =>
      isPaged(page)
        ? pageAnswer(text(), ledgerPage(scene().snapshot, { values, ...page }), values)
        : ledgerAnswer(text(), (form) => form.ledger(values), values),
    getBucket: ({ bucket, values = unsaid, ...page }) =>
      isPaged(page)
        ? pageAnswer(text(), bucketPage(scene().snapshot, { bucket, values, ...page }), values)
        : ledgerAnswer(text(), (form) => form.bucket(bucket, values), values),
    getEntry({ bucket, key, values = unsaid }) {
      const value = text().value(bucket, key, values)
      if (value === undefined) throw noEntry(bucket, key)
      return ledgerAnswer(text(), () => value, values)
    },
  }
}

function ledgerAnswer(
  text: LedgerText,
  body: (text: LedgerText) => AnswerBody | string,
  values: ValueForm = 'json',
) {
  return prepared({ body: body(text), etag: text.etag(values) })
}

function pageAnswer(text: LedgerText, { body, next }: LedgerPage, values: ValueForm = 'json') {
  return prepared({ body, next, etag: text.etag(values) })
}

function summaryView({ snapshot, machines, self, network }: Scene): SummaryView {
  return {
    Files: snapshot.count(BUCKETS.files),
    Machines: machines.size,
    Users: snapshot.count(BUCKETS.users),
    Services: snapshot.count(BUCKETS.services),
    BlockChain: snapshot.head.index,
    OnChainNodes: network?.members().length ?? 0,
    Peers: (network?.peers().length ?? 0) + 1,
    NodeID: self,
  }
}

function noEntry(bucket: string, key: string): Problem {
  return new Problem('ledger.not_found', `no live entry ${JSON.stringify(key)} in ${JSON.stringify(bucket)}`)
}
