import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import type { DebugPort } from '../src/index.ts'
import { PAGE, startTestNode, type TestNode } from './fixture.ts'

let node: TestNode | undefined
afterEach(() => node?.stop())

/** Profiles that last until the test ends them, or their asker leaves. */
function fakeDebug() {
  const ends: (() => void)[] = []
  let left = 0
  const port: DebugPort = {
    profiles: [
      { name: 'profile', summary: 'The processor.', defaultSeconds: 30 },
      { name: 'heap', summary: 'The heap.', defaultSeconds: undefined },
    ],
    take({ name, seconds }, signal) {
      const answer = { body: `${name} of ${seconds} s`, type: 'application/octet-stream', fileName: 'p.gz' }
      if (name === 'heap') return Promise.resolve(answer)
      return new Promise((resolve, reject) => {
        ends.push(() => resolve(answer))
        signal.addEventListener('abort', () => {
          left++
          reject(signal.reason as Error)
        })
      })
    },
  }
  return { port, ends, left: () => left }
}

test('without --debug the place of profiles is the web page', async () => {
  node = await startTestNode()
  for (const path of ['/debug/pprof/', '/debug/pprof/heap']) {
    const answer = await fetch(node.listener.url + path)
    expect([answer.status, await answer.text()]).toEqual([200, PAGE])
  }
})

test('serves profiles under the guards of the API', async () => {
  const debug = fakeDebug()
  node = await startTestNode({ components: { debug: debug.port } })
  const ask = (path: string, init?: RequestInit) => fetch(`${node?.listener.url}/debug/pprof${path}`, init)
  const index = await ask('/')
  expect([index.status, index.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(await index.text()).toContain('href="/debug/pprof/profile"')
  const heap = await ask('/heap')
  expect([heap.status, heap.headers.get('content-disposition'), await heap.text()]).toEqual([
    200,
    'attachment; filename="p.gz"',
    'heap of 0 s',
  ])
  const refused = [
    await ask('/nope'),
    await ask('/profile?seconds=0'),
    await ask('/profile?seconds=101'),
    await ask('/heap', { method: 'POST' }),
    await ask('/heap', { headers: { Origin: 'http://evil.example' } }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([404, 400, 400, 405, 403])
})

test('takes one profile at a time, and none goes on when its asker has left', async () => {
  const debug = fakeDebug()
  node = await startTestNode({ components: { debug: debug.port } })
  const url = `${node.listener.url}/debug/pprof`
  const leaving = new AbortController()
  const first = fetch(`${url}/profile?seconds=5`, { signal: leaving.signal }).catch(() => 'left')
  await eventually(() => expect(debug.ends).toHaveLength(1))
  const second = await fetch(`${url}/heap`)
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await second.json()).toMatchObject({ Code: 'debug.busy' })
  leaving.abort()
  expect(await first).toBe('left')
  await eventually(async () => expect((await fetch(`${url}/heap`)).status).toBe(200))
  expect(debug.left()).toBe(1)
  const third = fetch(`${url}/profile`)
  await eventually(() => expect(debug.ends).toHaveLength(2))
  debug.ends[1]?.()
  expect(await (await third).text()).toBe('profile of 30 s')
})
