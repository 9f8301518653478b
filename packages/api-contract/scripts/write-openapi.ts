import { writeFileSync } from 'node:fs'
import { buildOpenApiDocument } from '../src/openapi.ts'

/** `npm --prefix packages/api-contract run generate` after a change of the contract; a test compares. */
const text = `${JSON.stringify(buildOpenApiDocument(), undefined, 2)}\n`
writeFileSync(new URL('../openapi.json', import.meta.url), text)
