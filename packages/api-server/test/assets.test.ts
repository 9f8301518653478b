/** How long a browser may keep a file of the page. */
import { afterEach, expect, test } from 'vitest'
import { startTestNode, type TestNode } from './fixture.ts'

let node: TestNode | undefined
afterEach(() => node?.stop())

const files = [
  '/index.html',
  '/mark.svg',
  '/assets/index-BvuVqRJg.js',
  '/assets/inter-latin-wght-normal-Dx4kXJAl.woff2',
  '/assets/plain.js',
]

test('a file whose name holds its hash is kept for ever, and nothing else at all', async () => {
  node = await startTestNode({
    components: {
      assets: {
        get: (path) => (files.includes(path) ? { bytes: Buffer.from('x'), type: 'text/plain' } : undefined),
      },
    },
  })
  const cacheOf = async (path: string) =>
    (await fetch(`${node?.listener.url}${path}`)).headers.get('cache-control')
  const immutable = 'public, max-age=31536000, immutable'
  expect(await Promise.all(files.map(cacheOf))).toEqual([
    'no-store',
    'no-store',
    immutable,
    immutable,
    'no-store',
  ])
  expect(await cacheOf('/')).toBe('no-store')
  expect(await cacheOf('/machines')).toBe('no-store')
  expect(await cacheOf('/assets/missing-BvuVqRJg.js')).toBe('no-store')
  expect(await cacheOf('/api/summary')).toBe('no-store')
})
