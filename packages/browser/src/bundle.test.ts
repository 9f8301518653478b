/** What a page loads: nothing of Node.js, and not more than the README says. */
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const MAX_GZIP_BYTES = 350_000

test('the package bundles for a browser within its size', async () => {
  const { outputFiles } = await build({
    entryPoints: [new URL('index.ts', import.meta.url).pathname],
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2024',
    conditions: ['mesh-source'],
    write: false,
    logLevel: 'silent',
  })
  const [{ contents, text }] = outputFiles as unknown as [{ contents: Uint8Array; text: string }]
  expect(text).not.toMatch(/["']node:[a-z_/]+["']/)
  expect(gzipSync(contents).length).toBeLessThanOrEqual(MAX_GZIP_BYTES)
})
