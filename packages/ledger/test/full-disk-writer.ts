/** A process that writes until it is killed, run by full-disk.test.ts: prints `KEY STATE\n` for each write, refused or not. */
import { writeSync } from 'node:fs'
import { createLedger } from '../src/index.ts'
import { createNodeSigner, openDiskStore } from '../src/node.ts'

const [path = ''] = process.argv.slice(2)
const signer = createNodeSigner(new Uint8Array(32).fill(1))
const ledger = createLedger({}, { signer, store: openDiskStore({ path }) })
for (let n = 0; ; n += 8) {
  const keys = Array.from({ length: 8 }, (_, more) => `k${n + more}`)
  const writes = keys.map((key) => ledger.put('notes', key, JSON.stringify(key.padEnd(20_000, 'x'))))
  const outcomes = await Promise.all(writes.map(({ settled }) => settled))
  writeSync(1, keys.map((key, at) => `${key} ${outcomes[at]?.state}\n`).join(''))
}
