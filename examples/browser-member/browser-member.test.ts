import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { build, type Rolldown } from 'vite'

const MAX_GZIP_BYTES = 350_000

test('the page bundles without anything of Node.js, within its size', async () => {
  const result = await build({ root: import.meta.dirname, logLevel: 'error', build: { write: false } })
  const { output } = result as Rolldown.RolldownOutput
  const code = output.flatMap((file) => (file.type === 'chunk' ? [file.code] : [])).join('\n')
  expect(code).not.toMatch(/["']node:[a-z_/]+["']|__vite-browser-external/)
  expect(gzipSync(code).length).toBeLessThanOrEqual(MAX_GZIP_BYTES)
  // a node serves it with a policy that allows no script of the page itself
  const html = output.flatMap((file) =>
    file.type === 'asset' && file.fileName === 'index.html' ? [String(file.source)] : [],
  )[0]
  expect(html).toMatch(/<script type="module"[^>]* src="\.\/assets\//)
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=/)
})
