import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import { systemRandom } from '@mesh/core'
import { createManualClock, eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { watchTarget } from './target-health.ts'

const HOUR_MS = 3_600_000

async function listen(port = 0): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 }
}

test('a target is up since it first answered, and down since it ceased to', async () => {
  const { server, port } = await listen()
  const clock = createManualClock(1_000)
  const health = watchTarget(
    { type: 'tcp', host: '127.0.0.1', port },
    { clock, random: systemRandom, onChange: () => {} },
  )
  expect(health.since).toBeUndefined()
  await eventually(() => expect(health.isUp).toBe(true))
  expect(health.since).toBe(1_000)
  health.worked()
  expect(health.since).toBe(1_000)
  server.close()
  await once(server, 'close')
  const before = clock.now()
  await eventually(async () => {
    await clock.advance(HOUR_MS / 60)
    expect(health.isUp).toBe(false)
  })
  expect(health.since).toBeGreaterThan(before)
  health.stop()
})
