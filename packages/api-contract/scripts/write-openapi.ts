import { writeFileSync } from 'node:fs'
import { buildOpenApiDocument } from '../src/openapi.ts'

/** `pnpm --filter @mesh/api-contract generate` after a change of the contract; a test compares. */
const text = `${JSON.stringify(buildOpenApiDocument(), undefined, 2)}\n`
writeFileSync(new URL('../openapi.json', import.meta.url), text)
