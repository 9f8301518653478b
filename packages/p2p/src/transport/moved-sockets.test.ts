import { silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { MOVED_LOOKS, OWN_ADDRESS_LOOK_MS } from './limits.ts'
import { MovedSockets } from './moved-sockets.ts'

const [WIFI, LTE] = ['192.168.3.2', '100.64.0.9']

function machine() {
  const clock = createManualClock()
  const state = { own: new Set([WIFI]), way: WIFI as string | undefined, ended: [] as string[] }
  const sockets = new MovedSockets(
    { clock, logger: silentLogger },
    {
      own: () => state.own,
      towards: () =>
        state.way === undefined ? Promise.reject(new Error('no way')) : Promise.resolve(state.way),
    },
  )
  const open = (localAddress: string) => {
    let close = () => {}
    sockets.watch({
      localAddress,
      remoteAddress: '5.5.5.1',
      destroy(this: never) {
        state.ended.push(localAddress)
        close()
        return this
      },
      once(this: never, _event: string, listener: () => void) {
        close = listener
        return this
      },
    } as never)
    return () => close()
  }
  return { clock, state, sockets, open }
}

test('connections from an address that is gone end once there is another way', async () => {
  const { clock, state, sockets, open } = machine()
  for (const address of [WIFI, `::ffff:${WIFI}`, '127.0.0.5', LTE]) open(address)
  state.own.add(LTE)
  await clock.advance(60_000)
  expect(state.ended).toEqual([])
  state.own.delete(WIFI)
  state.way = LTE
  await clock.advance(MOVED_LOOKS * OWN_ADDRESS_LOOK_MS)
  expect(state.ended).toEqual([WIFI, `::ffff:${WIFI}`])
  sockets.stop()
  expect(clock.pending).toBe(0)
})

test('a cable that was pulled for a while ends nothing, and a closed socket is forgotten', async () => {
  const { clock, state, open } = machine()
  const close = open(WIFI)
  state.own.clear()
  state.way = undefined
  await clock.advance(60_000)
  state.own.add(WIFI)
  state.way = WIFI
  await clock.advance(60_000)
  expect(state.ended).toEqual([])
  close()
  await clock.advance(OWN_ADDRESS_LOOK_MS)
  expect(clock.pending).toBe(0)
})
