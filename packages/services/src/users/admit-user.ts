/**
 * Says whether a peer may connect: it needs an entry in `users` whose owner is alive.
 *
 * 1. Merges what the peer sent along into the ledger, judged like everything else.
 * 2. Looks the entry up.
 * 3. Waits a moment for an entry that has not arrived.
 */
import { BUCKETS, type Clock, type PeerId } from '@mesh/core'
import { decodeEntries } from '@mesh/ledger'
import { awaitCommit } from '../await-commit.ts'
import { USER_WAIT_MS } from '../limits.ts'
import type { ServicesLedger } from '../ports.ts'

/** Whatever a peer sends along, only its own two entries are looked at. */
const ADMITTING_BUCKETS: readonly string[] = [BUCKETS.users, BUCKETS.healthcheck]

export interface AdmitComponents {
  readonly ledger: ServicesLedger
  readonly clock: Clock
}

export interface AdmitInit {
  readonly peer: PeerId
  /** A block that came with the request; empty: none did. */
  readonly entries: Uint8Array
  /** Does the ledger say that this peer may connect? Default: as specified. */
  readonly isAdmitted?: () => boolean
}

/** Why a peer was not admitted, in words for it; undefined: it was. Never rejects. */
export async function admitUser(
  { peer, entries, isAdmitted: given }: AdmitInit,
  components: AdmitComponents,
): Promise<string | undefined> {
  const isAdmitted = given ?? (() => isUser(peer, components))
  if (isAdmitted()) return undefined
  const { rejected } = components.ledger.merge(ownEntries(peer, entries), peer)
  if (isAdmitted() || (await awaitCommit(isAdmitted, components, { ms: USER_WAIT_MS }))) return undefined
  const codes = [...new Set(rejected.map(({ code }) => code))].join(', ')
  const reason = codes === '' ? '' : `; its entries were refused (${codes})`
  return `${peer} has no live entry in the bucket 'users' of the ledger here${reason}`
}

export function isUser(peer: PeerId, { ledger, clock }: AdmitComponents): boolean {
  const snapshot = ledger.snapshot()
  const entry = snapshot.getLive(BUCKETS.users, peer)
  if (entry === undefined) return false
  const isOwn = entry.owner === peer || (entry.owner === '' && ledger.mode === 'off')
  return isOwn && snapshot.isOwnerLive(peer, clock.now())
}

function ownEntries(peer: PeerId, entries: Uint8Array) {
  if (entries.byteLength === 0) return []
  // the heartbeat first: the other one is judged by it
  return decodeEntries(entries)
    .entries.filter(
      ({ bucket, key, entry }) => ADMITTING_BUCKETS.includes(bucket) && key === peer && entry.owner === peer,
    )
    .sort((one, other) => ADMITTING_BUCKETS.indexOf(other.bucket) - ADMITTING_BUCKETS.indexOf(one.bucket))
}
