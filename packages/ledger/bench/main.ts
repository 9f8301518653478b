/** Prints this package's measures: `node --expose-gc --conditions=mesh-source packages/ledger/bench/main.ts`. */
import { measureCrypto } from './measure-crypto.ts'
import { measurePut } from './measure-put.ts'

const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`)
print(await measureCrypto())
for (const result of await measurePut([10, 1000, 10_000, 100_000])) print(result)
