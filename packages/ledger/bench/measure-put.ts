/** The cost of a put and the memory of an entry, at several sizes of the ledger. */
import { systemClock } from '@mesh/core'
import { createLedger, type Ledger } from '../src/index.ts'
import { createNodeSigner, createNodeVerifier } from '../src/node.ts'
import { seedOf } from './signed-entries.ts'

export interface PutMeasure {
  /** Entries in the ledger before the measured puts. */
  readonly entries: number
  /** Distinct new keys, each committed with what arrived beside it. */
  readonly putsPerSecond: number
  /** Blocks of one put each, so that all that a block costs is in it. */
  readonly blocksPerSecond: number
  /** Heap and array buffers; NaN without `--expose-gc`. */
  readonly bytesPerEntry: number
}

const PUTS = 2000
const BLOCKS = 1000

/** @param sizes ascending */
export async function measurePut(sizes: readonly number[]): Promise<PutMeasure[]> {
  const results: PutMeasure[] = []
  for (const entries of sizes) results.push(await measureSize(entries))
  return results
}

async function measureSize(entries: number): Promise<PutMeasure> {
  const before = memory()
  const ledger = openLedger()
  await putMany(ledger, 'fill', entries)
  const bytesPerEntry = (memory() - before) / entries
  const putsPerSecond = await perSecond(PUTS, () => putMany(ledger, 'put', PUTS))
  const blocksPerSecond = await perSecond(BLOCKS, async () => {
    for (let n = 0; n < BLOCKS; n++) await ledger.put('block', `k${n}`, valueOf(n)).settled
  })
  await ledger.stop()
  return { entries, putsPerSecond, blocksPerSecond, bytesPerEntry }
}

async function putMany(ledger: Ledger, bucket: string, count: number): Promise<void> {
  const writes: Promise<unknown>[] = []
  for (let n = 0; n < count; n++) writes.push(ledger.put(bucket, `k${n}`, valueOf(n)).settled)
  const outcomes = await Promise.all(writes)
  if (ledger.snapshot().count(bucket) !== count)
    throw new Error(`not all puts took: ${JSON.stringify(outcomes[0])}`)
}

function valueOf(n: number): string {
  return JSON.stringify({ n, text: 'x'.repeat(80) })
}

async function perSecond(count: number, run: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await run()
  return (count * 1000) / (performance.now() - start)
}

/** Its waits end at once: the work counts, not the pause that batches it. */
function openLedger(): Ledger {
  const clock = {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic(),
    after: (_delayMs: number, run: () => void) => {
      const turn = setImmediate(run)
      return () => clearImmediate(turn)
    },
  }
  return createLedger({}, { signer: createNodeSigner(seedOf(3)), verify: createNodeVerifier(), clock })
}

function memory(): number {
  if (globalThis.gc === undefined) return Number.NaN
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
