import { BUCKETS, peerIdFromPublicKey, silentLogger, systemRandom } from '@mesh/core'
import { createSigner, type LedgerEvent } from '@mesh/ledger'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createTrust } from '../src/index.ts'
import { checkPolicy } from '../src/rules/check-policy.ts'
import { LIST_REST } from '../src/limits.ts'
import type { TrustLedger } from '../src/ports.ts'

test('a list that takes long to read is not read with each change', async () => {
  const clock = createManualClock()
  const signer = createSigner(systemRandom.bytes(32))
  const guard = { enabled: true, relaxed: false, strict: false, autoclean: false }
  const trust = createTrust({ self: signer.peerId, network: 'x', guard, administrators: [] } as never, {
    signer,
    readAdminSeed: () => undefined,
    checkPolicy,
    clock,
    random: systemRandom,
    log: silentLogger,
  })
  const [first, last] = [1, 2].map((byte) => peerIdFromPublicKey(new Uint8Array(32).fill(byte)))
  let reads = 0
  let monotonic = 0
  clock.monotonic = () => monotonic
  const listed = [first]
  let tell: (event: LedgerEvent) => void = () => {}
  const ledger = {
    snapshot: () => ({
      entries() {
        reads++
        // it takes so many ms
        monotonic += 10
        return listed.map((key) => ({ bucket: BUCKETS.trustzone, key, entry: { owner: '', deleted: false } }))
      },
    }),
    subscribe(listener: typeof tell) {
      tell = listener
      return () => {}
    },
    admissionChanged() {},
  } as unknown as TrustLedger
  trust.attachLedger(ledger)
  const change = () => tell({ type: 'committed', changes: [{ bucket: BUCKETS.trustzone }] } as never)
  change()
  expect(reads).toBe(2)
  listed.push(last)
  for (let time = 0; time < 100; time++) change()
  expect(reads).toBe(2)
  await clock.advance(LIST_REST * 10)
  expect(reads).toBe(3)
  expect([trust.mayUse(first as string), trust.mayUse(last as string)]).toEqual([true, true])
  trust.stop()
})
