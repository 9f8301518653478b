import { type PeerId, systemClock } from '@mesh/core'
import { expect, test } from 'vitest'
import { openService, type OpenServiceComponents } from './open-service.ts'

test('streams for many local programs that come at once are opened in many turns of the event loop', async () => {
  let nowMs = 0
  const clock = { ...systemClock, monotonic: () => nowMs }
  const opens = new Map<number, number>()
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  const left = new Error('the test needs no stream')
  const components = {
    clock,
    providers: { use: (each: unknown) => ({ provider: each, close() {} }) },
    user: { since: 1, entries: () => new Uint8Array() },
    network: {
      speaks: () => true,
      streams: {
        async open() {
          opens.set(turn, (opens.get(turn) ?? 0) + 1)
          nowMs += 3
          throw left
        },
      },
    },
  } as unknown as OpenServiceComponents
  const provider = {
    service: 'web',
    provider: undefined,
    lastError: undefined,
    pick: () => ({ peer: 'peer' as PeerId, service: 'web' }),
    failed() {},
    hasOther: () => false,
  } as never
  setImmediate(count)
  const clients = Array.from({ length: 30 }, () => {
    const client = new AbortController()
    const init = { name: 'x', kind: 'stream', provider, startedAt: 0, signal: client.signal } as const
    return { client, opening: openService(init, components) }
  })
  // one leaves while it waits
  clients[20]?.client.abort(left)
  const waits = Promise.allSettled(clients.map(({ opening }) => opening))
  await expect.poll(() => [...opens.values()].reduce((sum, some) => sum + some, 0)).toBe(29)
  for (const { client } of clients) client.abort(left)
  await waits
  isOver = true
  expect(Math.max(...opens.values())).toBeLessThanOrEqual(6)
})
