/** Prints this package's measures: `node --conditions=mesh-source packages/api-server/bench/main.ts`. */
import { measureApi } from './measure-api.ts'

for (const result of await measureApi([10, 10_000])) process.stdout.write(`${JSON.stringify(result)}\n`)
