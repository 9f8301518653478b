/** How long a browser may keep a file of the page. */
import { gzipSync } from 'node:zlib'
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

test('an address of the page in a folder names the files of the page from there', async () => {
  const page = '<link href="./mark.svg"><script src="./assets/index-BvuVqRJg.js"></script><p title="a ./b">'
  node = await startTestNode({
    components: {
      assets: {
        get: (path) =>
          path === '/index.html'
            ? { bytes: gzipSync(page), type: 'text/html; charset=utf-8', encoding: 'gzip' }
            : undefined,
      },
    },
  })
  const textOf = async (path: string) => (await fetch(`${node?.listener.url}${path}`)).text()
  expect(await textOf('/')).toBe(page)
  expect(await textOf('/machines')).toBe(page)
  const deeper = page.replaceAll('="./', '="../')
  expect(await textOf('/machines/a%2Fb')).toBe(deeper)
  expect(await textOf('/machines/')).toBe(deeper)
  expect(await textOf('/a/b/c')).toBe(page.replaceAll('="./', '="../../'))
  expect(await textOf('/a'.repeat(2_000))).toBe(page)
})
