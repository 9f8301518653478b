import { multiaddrConnectionPair } from '@libp2p/utils'
import type { Clock } from '@mesh/core'
import { eventually, YAMUX, yamuxHead } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { muxer } from './index.ts'
import { GO_AWAY_CLOSE_MS } from './limits.ts'

function connect() {
  const timers: { readonly ms: number; run(): void }[] = []
  const after = (ms: number, run: () => void) => {
    if (ms === 0) setImmediate(run)
    else timers.push({ ms, run })
    return () => {}
  }
  const clock = { monotonic: () => 0, now: () => 0, after } as unknown as Clock
  const [far, near] = multiaddrConnectionPair({ delay: 0 })
  const made = muxer(clock)().createStreamMuxer(near)
  const leave = (reason: number) =>
    far.send(yamuxHead({ type: YAMUX.GO_AWAY, flags: 0, stream: 0, length: reason }))
  const outOfTime = () => timers.find(({ ms }) => ms === GO_AWAY_CLOSE_MS)?.run()
  return { near, made, leave, outOfTime }
}

test.each([
  ['goes away', 0],
  ['says that the protocol was broken', 1],
])('a connection ends whose other side %s and stays', async (_, reason) => {
  const { near, made, leave } = connect()
  leave(reason)
  await eventually(() => expect(near.status).toBe('closed'))
  expect(made.status).toBe('closed')
})

test('one that cannot close in time is broken off', async () => {
  const { near, leave, outOfTime } = connect()
  near.writableNeedsDrain = true
  leave(0)
  await eventually(() => expect(near.status).toBe('closing'))
  outOfTime()
  await eventually(() => expect(near.status).toBe('aborted'))
})
