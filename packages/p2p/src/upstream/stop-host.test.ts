import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { stopHost } from './stop-host.ts'

test('what listens for WebRTC Direct is freed once, and only a while after the host has stopped', async () => {
  const clock = createManualClock()
  let freed = 0
  const listener = { stunServer: { close: async () => void freed++ } }
  await stopHost(
    {
      stop: () => Promise.all([listener.stunServer.close(), listener.stunServer.close()]),
      services: {
        pubsub: {},
        parts: {
          components: {
            addressManager: {},
            identifyPush: {},
            transportManager: { getListeners: () => [{}, listener] },
          },
        },
      },
    },
    clock,
  )
  await clock.advance(1_900)
  expect(freed).toBe(0)
  await clock.advance(200)
  expect(freed).toBe(1)
})
