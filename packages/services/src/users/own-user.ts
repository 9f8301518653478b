/**
 * This node's entry in `users`: 'I am about to connect to you' (docs/WIRE.md 5.2). Announced once for all that this
 * node connects to, and carried along with requests, so that the other side knows it before the first byte.
 */
import { BUCKETS, type Clock } from '@mesh/core'
import { encodeBlock, type KeyedEntry } from '@mesh/ledger'
import { awaitCommit } from '../await-commit.ts'
import { OWN_USER_MS } from '../limits.ts'
import type { Announcer, ServicesLedger } from '../ports.ts'
import { tookTooLong } from '../timeout.ts'

export interface OwnUserComponents {
  readonly ledger: ServicesLedger
  readonly announce: Announcer
  readonly clock: Clock
}

export function createOwnUser({ ledger, announce, clock }: OwnUserComponents) {
  const { self } = ledger
  let stopAnnouncing: (() => void) | undefined
  let stopWatching = () => {}
  let since: number | undefined
  /** The value that `entries` gave last. */
  let encoded: { readonly entries: readonly KeyedEntry['entry'][]; readonly block: Uint8Array } | undefined

  const valueText = () => JSON.stringify({ PeerID: self, Timestamp: new Date(clock.now()).toISOString() })

  function look(): void {
    const held = ledger.snapshot().getLive(BUCKETS.users, self)
    if (held === undefined || (held.owner !== self && held.owner !== '')) {
      since = undefined
      return
    }
    since ??= clock.now()
  }

  return {
    /** Begins to announce it. Idempotent. */
    announce() {
      if (stopAnnouncing !== undefined) return
      stopWatching = ledger.subscribe((event) => {
        if (event.type === 'committed' && event.changes.some(({ bucket, key }) => isUser(bucket, key, self)))
          look()
      })
      stopAnnouncing = announce(BUCKETS.users, self, valueText)
    },
    /**
     * Resolves when the entry is in the ledger, and on its way to the others.
     * @throws MeshError `services.timeout`; the signal's reason
     */
    async announced(signal: AbortSignal): Promise<void> {
      const isHeld = () => {
        look()
        return since !== undefined
      }
      // an entry of an earlier run counts, too: it is the same identity
      if (isHeld() || (await awaitCommit(isHeld, { ledger, clock }, { ms: OWN_USER_MS, signal }))) return
      throw tookTooLong(OWN_USER_MS)
    },
    /** Unix ms since when the entry is in the ledger; undefined: it is not. */
    get since(): number | undefined {
      return since
    },
    /** The entry and this node's heartbeat as a block, for a request. */
    entries(): Uint8Array {
      const snapshot = ledger.snapshot()
      const own = [BUCKETS.users, BUCKETS.healthcheck].flatMap((bucket): KeyedEntry[] => {
        const entry = snapshot.getLive(bucket, self)
        return entry === undefined ? [] : [{ bucket, key: self, entry }]
      })
      // entries are never changed, so that the same ones make the same block
      if (
        encoded?.entries.length !== own.length ||
        encoded.entries.some((entry, at) => entry !== own[at]?.entry)
      ) {
        encoded = { entries: own.map(({ entry }) => entry), block: encodeBlock(own) }
      }
      return encoded.block
    },
    /** The entry stays until this node's lease ends. */
    stop() {
      stopAnnouncing?.()
      stopWatching()
      stopAnnouncing = undefined
    },
  }
}

export type OwnUser = ReturnType<typeof createOwnUser>

const isUser = (bucket: string, key: string, self: string) => bucket === BUCKETS.users && key === self
