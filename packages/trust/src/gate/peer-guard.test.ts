import { BUCKETS, type PeerId, peerIdFromPublicKey, silentLogger, systemRandom } from '@mesh/core'
import { createLedger, createSigner, type Ledger, type Signer } from '@mesh/ledger'
import { createManualClock, type ManualClock } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import type { TrustNetwork } from '../ports.ts'
import { createPeerGuard } from './peer-guard.ts'

const LIVENESS_MS = 480_000
const INTERVAL_MS = 120_000

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

function openLedger(clock: ManualClock, signer: Signer): Ledger {
  const ledger = createLedger({}, { signer, clock })
  ends.push(() => ledger.stop())
  return ledger
}

async function put(clock: ManualClock, ledger: Ledger, { bucket, key, value }: Record<string, string>) {
  const { settled } = ledger.put(bucket ?? '', key ?? '', value ?? '""')
  await clock.advance(50)
  await settled
}

/** A guard that cleans up, on a node for which `topicPeers` are on the topic. */
function startGuard(clock: ManualClock, ledger: Ledger, topicPeers: readonly PeerId[]) {
  const network = { publicTopic: undefined, topicPeers: () => topicPeers } as Partial<TrustNetwork>
  const guard = createPeerGuard(undefined)(
    {
      self: ledger.self,
      network: 'a3aef9821d7c70a7dfd6',
      intervalMs: INTERVAL_MS,
      autoclean: true,
      livenessMs: LIVENESS_MS,
      strict: false,
    },
    {
      ledger,
      network: network as TrustNetwork,
      isListed: () => true,
      clock,
      random: systemRandom,
      log: silentLogger,
    },
  )
  guard.start()
  ends.push(() => guard.stop())
}

test('autoclean takes out who left, and nobody who is here, was heard lately, or has just come', async () => {
  const clock = createManualClock()
  const ledger = openLedger(clock, createSigner(systemRandom.bytes(32)))
  const [onTopic, left] = [0, 1].map(() => peerIdFromPublicKey(systemRandom.bytes(32))) as [PeerId, PeerId]
  const beating = createSigner(systemRandom.bytes(32))
  const theirs = openLedger(clock, beating)
  for (const key of [ledger.self, onTopic, beating.peerId, left]) {
    await put(clock, ledger, { bucket: BUCKETS.trustzone, key })
  }
  const listed = () =>
    [...ledger.snapshot().entries(BUCKETS.trustzone)]
      .filter(({ entry }) => !entry.deleted)
      .map(({ key }) => key)
  startGuard(clock, ledger, [onTopic])
  await clock.advance(LIVENESS_MS - INTERVAL_MS)
  expect(listed()).toHaveLength(4)
  const beat = JSON.stringify(new Date(clock.now()).toISOString())
  await put(clock, theirs, { bucket: BUCKETS.healthcheck, key: beating.peerId, value: beat })
  ledger.merge([...theirs.snapshot().entries(BUCKETS.healthcheck)], undefined)
  const late = peerIdFromPublicKey(systemRandom.bytes(32))
  await put(clock, ledger, { bucket: BUCKETS.trustzone, key: late })
  await clock.advance(2 * INTERVAL_MS)
  expect(new Set(listed())).toEqual(new Set([ledger.self, onTopic, beating.peerId, late]))
  // who stops to beat has left, too
  await clock.advance(LIVENESS_MS + INTERVAL_MS)
  expect(new Set(listed())).toEqual(new Set([ledger.self, onTopic]))
})
