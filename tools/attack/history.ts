/** Ledgers with a past: what members wrote and ended hours before an attack, and what is live of it. */
import { join } from 'node:path'
import { systemClock } from '@mesh/core'
import { createLedger, type KeyedEntry, type Signer } from '@mesh/ledger'
import { createNodeSigner, createNodeVerifier, openDiskStore } from '@mesh/ledger/node'
import { signEntry } from './gossip.ts'
import type { AttackTarget } from './scenario.ts'
import { untilTrue } from './until-true.ts'
import { heartbeatOf } from './voice.ts'

export const HOUR_MS = 3_600_000

/** A member that is gone for good. */
export const GONE: Signer = createNodeSigner(new Uint8Array(32).fill(77))

/** Signs entries of some buckets as they were written at a time, or ended. */
export function entriesOf(
  signer: Signer,
  buckets: readonly string[],
  {
    count,
    atMs,
    deleted = false,
  }: { readonly count: number; readonly atMs: number; readonly deleted?: boolean },
): readonly KeyedEntry[] {
  const change = { version: BigInt(atMs) * 1_000_000n, updatedAt: Math.floor(atMs / 1_000), deleted }
  return buckets.flatMap((bucket) =>
    Array.from({ length: count }, (_, at) =>
      signEntry(signer, [bucket, `old${at}`, { PeerID: signer.peerId }], change),
    ),
  )
}

/** What came at one time; without entries it is one at which a ledger looks for tombstones that nobody needs any more. */
export interface Moment {
  readonly atMs: number
  readonly entries?: readonly KeyedEntry[]
}

/** Writes a ledger that lived through these moments, with a heartbeat of who is gone in the first one. */
export async function writeHistory(folder: string, moments: readonly Moment[]): Promise<void> {
  let nowMs = moments[0]?.atMs ?? 0
  const store = openDiskStore({ path: join(folder, 'ledger.db') })
  const clock = { ...systemClock, now: () => nowMs }
  const ledger = createLedger({}, { signer: GONE, verify: createNodeVerifier(), clock, store })
  ledger.merge([heartbeatOf(GONE, nowMs)], undefined)
  for (const { atMs, entries } of moments) {
    nowMs = atMs
    if (entries === undefined) while (ledger.reap().hasMore);
    else if (ledger.merge(entries, undefined).rejected.length > 0) throw new Error('the past was refused')
  }
  await ledger.stop()
}

/** How many of these entries' keys are live at a node. */
export async function liveAt({ url }: AttackTarget, entries: readonly KeyedEntry[]): Promise<number> {
  const buckets = [...new Set(entries.map(({ bucket }) => bucket))]
  const live = await Promise.all(
    buckets.map(async (bucket) => {
      const held = (await (await fetch(`${url}/api/ledger/${bucket}`)).json()) as Record<string, unknown>
      return entries.filter((each) => each.bucket === bucket && each.key in held).length
    }),
  )
  return live.reduce((sum, each) => sum + each, 0)
}

/** How long nodes may take until they hold the same, in ms. */
const EQUAL_WITHIN_MS = 15_000

/** Waits until these nodes hold the same; gives what is wrong where they do not. */
export async function whyUnequal(nodes: readonly AttackTarget[]): Promise<string | undefined> {
  const areEqual = async () => new Set(await Promise.all(nodes.map(digestOf))).size === 1
  return (await untilTrue(EQUAL_WITHIN_MS, areEqual).catch(() => false)) ? undefined : 'the ledgers differ'
}

async function digestOf({ url }: AttackTarget): Promise<string> {
  const { Digest } = (await (await fetch(`${url}/api/digest`)).json()) as { readonly Digest: string }
  return Digest
}
