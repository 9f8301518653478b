import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildDocuments } from './documents.ts'

test.each([...buildDocuments()])(
  '%s says what the tables say (else: npm --prefix apps/node run write-docs)',
  (path, content) => {
    expect(readFileSync(join(import.meta.dirname, '../../../..', path), 'utf8')).toBe(content)
  },
)
