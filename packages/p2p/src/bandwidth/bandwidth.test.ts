import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { MAX_METERED_PEERS } from './limits.ts'
import { createBandwidth } from './bandwidth.ts'

test('counts by protocol, by peer and in all', () => {
  const bandwidth = createBandwidth({ clock: createManualClock() })
  bandwidth.meter({ protocol: '/a/1', peer: 'p', relayed: false }).add(100, 20)
  bandwidth.meter({ protocol: '/b/1', peer: 'p', relayed: false }).add(0, 5)
  expect(bandwidth.total()).toEqual({ totalIn: 100, totalOut: 25, rateIn: 10, rateOut: 2.5 })
  expect(bandwidth.byProtocol().get('/a/1')).toMatchObject({ totalIn: 100, totalOut: 20 })
  expect(bandwidth.byPeer().get('p')).toMatchObject({ totalIn: 100, totalOut: 25 })
})

test('what runs over a relay is in the total once, as bytes to the relay', () => {
  const bandwidth = createBandwidth({ clock: createManualClock() })
  bandwidth.meter({ protocol: 'hop', peer: 'relay', relayed: false }).add(110, 0)
  bandwidth.meter({ protocol: '/a/1', peer: 'p', relayed: true }).add(100, 0)
  expect(bandwidth.total().totalIn).toBe(110)
  expect(bandwidth.byPeer().get('p')?.totalIn).toBe(100)
})

test('a rate is over ten seconds and then gone', async () => {
  const clock = createManualClock()
  const bandwidth = createBandwidth({ clock })
  const meter = bandwidth.meter({ protocol: '/a/1', peer: 'p', relayed: false })
  meter.add(1_000, 0)
  await clock.advance(5_000)
  meter.add(1_000, 0)
  expect(bandwidth.total().rateIn).toBe(200)
  await clock.advance(5_000)
  expect(bandwidth.total().rateIn).toBe(100)
  await clock.advance(60_000)
  expect(bandwidth.total()).toMatchObject({ totalIn: 2_000, rateIn: 0 })
})

test('remembers no more peers than its bound, the ones heard last', async () => {
  const clock = createManualClock()
  const bandwidth = createBandwidth({ clock })
  for (let peer = 0; peer < MAX_METERED_PEERS + 50; peer++) {
    await clock.advance(1)
    bandwidth.meter({ protocol: '/a/1', peer: `p${peer}`, relayed: false }).add(1, 0)
  }
  const peers = bandwidth.byPeer()
  expect(peers.size).toBe(MAX_METERED_PEERS)
  expect(peers.has('p0')).toBe(false)
  expect(peers.has(`p${MAX_METERED_PEERS + 49}`)).toBe(true)
  expect(bandwidth.total().totalIn).toBe(MAX_METERED_PEERS + 50)
})
