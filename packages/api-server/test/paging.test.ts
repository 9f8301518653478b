import type { ApiClient } from '@mesh/api-client'
import type { BucketView } from '@mesh/api-contract'
import type { KeyedEntry } from '@mesh/ledger'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestNode, type TestNode } from './fixture.ts'
import { ask } from './raw-http.ts'

let node: TestNode
let client: ApiClient

function row(bucket: string, key: string, value: string, deleted = false): KeyedEntry {
  return { bucket, key, entry: { value, owner: '', version: 0n, updatedAt: 0, deleted, sig: null } }
}

/** Keys that numbers, a prototype and an encoding would put elsewhere. */
const KEYS = ['1', '10', '2', '__proto__', 'a/b', 'a b', 'key%2F', 'z', '\u{1F600}', '\uFF01'].toSorted()

beforeAll(async () => {
  node = await startTestNode()
  ;({ client } = node)
  node.ledger.merge(
    [
      ...KEYS.map((key) => row('notes', key, JSON.stringify(key))),
      ...KEYS.map((key) => row('b/c', key, '1')),
      ...Array.from({ length: 3000 }, (_, n) => row('many', `k${n}`, '"v"')),
      ...Array.from({ length: 40 }, (_, n) => row('large', `k${n}`, '\u0001'.repeat(60_000))),
    ],
    undefined,
  )
  const patterns = Array.from({ length: 30 }, (_, n) =>
    node.ledger.put('dns', `p${n}`, n % 3 === 0 ? '"no record"' : '{"1":"10.1.0.9"}'),
  )
  await Promise.all(patterns.map(({ settled }) => settled))
})
afterAll(() => node.stop())

const get = (path: string) => fetch(`${node.listener.url}${path}`)
const whole = async (path: string) => (await get(path)).json()

async function gathered<Page>(pages: AsyncIterable<Page>): Promise<Page[]> {
  const all: Page[] = []
  for await (const page of pages) all.push(page)
  return all
}

describe('a bucket', () => {
  test('is read in pages that together are the whole', async () => {
    for (const limit of [1, 3, 100]) {
      const pages = await gathered(client.pages('getBucket', { bucket: 'notes' }, { limit }))
      const values: BucketView = Object.assign(Object.create(null), ...pages)
      expect(Object.keys(values).toSorted()).toEqual(KEYS)
      expect(values['__proto__']).toBe('__proto__')
      for (const page of pages) expect(Object.keys(page).length).toBeLessThanOrEqual(limit)
    }
  })

  test('names the next page in the header Link, and the last page names none', async () => {
    const first = await get('/api/ledger/notes?limit=2&values=text')
    expect(first.headers.get('link')).toBe('</api/ledger/notes?limit=2&values=text&after=10>; rel="next"')
    expect(await first.json()).toEqual({ '1': '"1"', '10': '"10"' })
    const last = await get(`/api/ledger/notes?after=${encodeURIComponent(KEYS.at(-2) ?? '')}`)
    expect(last.headers.get('link')).toBeNull()
    expect(Object.keys((await last.json()) as object)).toEqual([KEYS.at(-1)])
  })

  test('has at most 1,000 entries on a page whatever was asked for', async () => {
    const pages = await gathered(client.pages('getBucket', { bucket: 'many' }, { limit: 100_000 }))
    expect(pages.map((page) => Object.keys(page).length)).toEqual([1000, 1000, 1000])
  })

  test('has about 1 MiB on a page', async () => {
    const pages = await gathered(client.pages('getBucket', { bucket: 'large' }))
    expect(pages.map((page) => Object.keys(page).length)).toEqual([2, ...Array(19).fill(2)])
  })

  test('may end before the key after which a page begins, or not be there', async () => {
    expect(await whole('/api/ledger/notes?after=zz%F0%9F%98%81')).not.toHaveProperty('z')
    expect(await whole('/api/ledger/nothing?limit=1')).toEqual({})
  })

  test('is whole without after and limit, as it always was', async () => {
    expect(Object.keys((await whole('/api/ledger/many')) as object)).toHaveLength(3000)
  })
})

test.each(['0', '-1', '1.5', 'x', '', '1e3'])('refuses a limit of %j with 400', async (limit) => {
  const answer = await get(`/api/ledger/notes?limit=${limit}`)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({
    Code: 'http.bad_query',
    Issues: [{ Field: 'limit', Expected: 'a whole number above 0' }],
  })
})

describe('the whole ledger and the block', () => {
  test('are read in pages that together are the whole', async () => {
    const pages = await gathered(client.pages('getLedger', {}, { limit: 7 }))
    const counts = new Map<string, number>()
    for (const page of pages) {
      for (const [bucket, values] of Object.entries(page)) {
        counts.set(bucket, (counts.get(bucket) ?? 0) + Object.keys(values).length)
      }
    }
    expect(Object.fromEntries(counts)).toEqual({
      'b/c': KEYS.length,
      large: 40,
      many: 3000,
      notes: KEYS.length,
      dns: 30,
    })
    const blocks = await gathered(client.pages('getBlock', {}, { limit: 500 }))
    const signed = blocks.flatMap(({ Storage }) =>
      Object.values(Storage).flatMap((bucket) => Object.keys(bucket)),
    )
    expect(signed).toHaveLength(2 * KEYS.length + 3070)
    expect(new Set(blocks.map(({ Hash }) => Hash)).size).toBe(1)
  })

  test('begin after an entry that is named as in its path', async () => {
    const after = encodeURIComponent('b%2Fc/a%2Fb')
    const page = (await whole(`/api/ledger?after=${after}&limit=2`)) as Record<string, object>
    expect(page).toEqual({ 'b/c': { 'key%2F': 1, z: 1 } })
    for (const wrong of ['', 'b', 'b/c/d', '%25/x']) {
      const answer = await get(`/api/ledger?after=${wrong}`)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ Issues: [{ Field: 'after' }] })
    }
  })
})

test('names that no path can have, but members can write, do not end the reading of pages', async () => {
  const odd = ['', '\0', 'k\0', '\u202E', '.', '..', '\u20AC'.repeat(341)]
  const hostile = await startTestNode()
  hostile.ledger.merge(
    ['a', 'n\0', '\0'].flatMap((bucket) => odd.map((key) => row(bucket, key, '1'))),
    undefined,
  )
  const held = [...hostile.ledger.snapshot().entries()]
  expect(held).toHaveLength(3 * odd.length)
  const read = async (name: 'getLedger' | 'getBlock') => {
    const pages = await gathered(hostile.client.pages(name, {}, { limit: 1 }))
    expect(pages).toHaveLength(held.length)
  }
  await read('getLedger')
  await read('getBlock')
  expect(await gathered(hostile.client.pages('getBucket', { bucket: 'a' }, { limit: 1 }))).toHaveLength(
    odd.length,
  )
  await hostile.stop()
})

test('lists are read in pages, those of peers by peer id', async () => {
  const pages = await gathered(client.pages('listDns', {}, { limit: 7 }))
  expect(pages.flat()).toHaveLength(20)
  expect(pages.flat()).toEqual(await client.listDns({}))
  const nodes = await gathered(client.pages('listNodes', {}, { limit: 1 }))
  expect(nodes.map((page) => page.length)).toEqual([1, 1])
  expect(nodes.flat()).toEqual(await client.listNodes({}))
})

test('a page is not sent again while nothing changed', async () => {
  const first = await get('/api/ledger/notes?limit=2')
  const etag = first.headers.get('etag') ?? ''
  const again = await ask(node.listener.port, 'GET /api/ledger/notes?limit=2', { 'If-None-Match': etag })
  expect(again.status).toBe(304)
})
