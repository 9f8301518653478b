/** Writes the documents that are made from tables. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildDocuments } from './documents.ts'

for (const [path, content] of buildDocuments()) {
  writeFileSync(join(import.meta.dirname, '../../../..', path), content)
}
