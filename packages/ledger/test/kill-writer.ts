/**
 * A process that writes until it is killed, run by disk-store.test.ts: prints `<n>\n` once all writes up to n are
 * acknowledged. It commits without a pause, and deletes and collects as it goes, so that all kinds of batches are cut.
 */
import { writeSync } from 'node:fs'
import { systemClock } from '@mesh/core'
import { createLedger } from '../src/index.ts'
import { createNodeSigner, openDiskStore } from '../src/node.ts'

const [path = '', start = '0'] = process.argv.slice(2)
const ledger = createLedger(
  { tombstoneTtlMs: -10_000 },
  {
    signer: createNodeSigner(new Uint8Array(32).fill(1)),
    store: openDiskStore({ path }),
    clock: {
      now: () => systemClock.now(),
      monotonic: () => systemClock.monotonic(),
      after: (_delayMs, run) => systemClock.after(0, run, { keepAlive: true }),
    },
  },
)
for (let n = Number(start); ; n += 4) {
  const writes = [n, n + 1, n + 2, n + 3].map((k) =>
    ledger.put('kept', `k${k}`, JSON.stringify('x'.repeat(k % 3000))),
  )
  await ledger.put('passing', `p${n % 7}`, String(n)).settled
  await ledger.delete('passing', `p${n % 7}`).settled
  await Promise.all(writes.map(({ settled }) => settled))
  if (n % 5 === 0) ledger.reap()
  writeSync(1, `${n + 3}\n`)
}
