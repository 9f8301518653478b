import { connect, type Socket } from 'node:net'
import type { KeyedEntry } from '@mesh/ledger'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestNode, type TestNode } from './fixture.ts'

const MIB = 1024 * 1024
/** Values that are no JSON, each of which grows sixfold when it is served as text. */
const VALUE = '\u0001'.repeat(60_000)
/** Each try makes a large answer: a busy machine takes its time for forty. */
const PATIENT = { withinMs: 20_000 }
const ENTRIES = 250

let node: TestNode

beforeAll(async () => {
  node = await startTestNode()
  const rows: KeyedEntry[] = Array.from({ length: ENTRIES }, (_, n) => ({
    bucket: n % 2 === 0 ? 'odd' : 'even',
    key: `k${n}`,
    entry: { value: VALUE, owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null },
  }))
  node.ledger.merge(rows, undefined)
})
afterAll(() => node.stop())

const get = (path: string) => fetch(`${node.listener.url}${path}`)

/** Asks and never reads. */
function stall(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(node.listener.url)
    const socket = connect(Number(port), hostname, () => {
      socket.pause()
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`)
      resolve(socket)
    })
    socket.on('error', reject)
  })
}

describe('a ledger full of values that are no JSON', () => {
  test('is served in pieces, whole and right', async () => {
    const answer = await get('/api/ledger')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-length')).toBeNull()
    const ledger = (await answer.json()) as Record<string, Record<string, string>>
    expect(Object.keys(ledger)).toEqual(['even', 'odd'])
    expect(Object.values(ledger).flatMap((bucket) => Object.values(bucket))).toHaveLength(ENTRIES)
    expect(ledger['odd']?.['k0']).toBe(VALUE)
    const bucket = (await (await get('/api/ledger/odd')).json()) as Record<string, string>
    expect(bucket).toEqual(ledger['odd'])
    const block = (await (await get('/api/blockchain')).json()) as { Storage: Record<string, object> }
    expect(Object.keys(block.Storage['even'] ?? {})).toHaveLength(ENTRIES / 2)
  })

  test('holds little for readers that do not read, of which there are only so many', async () => {
    await get('/api/summary')
    const before = process.memoryUsage().rss
    const sockets = await Promise.all(Array.from({ length: 40 }, () => stall('/api/ledger')))
    try {
      await eventually(async () => {
        const answer = await get('/api/ledger')
        await answer.body?.cancel()
        expect([answer.status, sockets.filter(({ destroyed }) => destroyed).length]).toEqual([429, 0])
        expect(answer.headers.get('retry-after')).toBe('5')
      }, PATIENT)
      expect((await get('/api/summary')).status).toBe(200)
      expect(process.memoryUsage().rss - before).toBeLessThan(150 * MIB)
      const head = await fetch(`${node.listener.url}/api/ledger`, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
      // The control socket has places of its own.
      expect(Object.keys(await node.unixClient.getLedger({}))).toHaveLength(2)
    } finally {
      for (const socket of sockets) socket.destroy()
    }
    await eventually(async () => {
      const answer = await get('/api/ledger')
      await answer.body?.cancel()
      expect(answer.status).toBe(200)
    }, PATIENT)
  }, 60_000)

  test('answers HEAD without making it', async () => {
    const head = await fetch(`${node.listener.url}/api/ledger`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })
})
