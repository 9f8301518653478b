import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { clientOf } from '../src/server/clients.ts'
import { createResponseRates } from '../src/server/udp-server.ts'
import { RANGES } from './names-world.ts'

test.each([
  ['127.0.0.1', 'trusted', undefined],
  ['::1', 'trusted', undefined],
  ['::ffff:127.0.0.1', 'trusted', undefined],
  ['10.1.0.77', 'trusted', '10.1.0'],
  ['192.168.1.5', 'near', '192.168.1'],
  ['fe80::1%eth0', 'near', 'fe80'],
  ['203.0.113.9', 'far', '203.0.113'],
])('%s is %s', (address, place, rated) => {
  const client = clientOf(address, RANGES)
  expect(client.place).toBe(place)
  expect(client.rated?.slice(0, rated?.length ?? 0)).toBe(rated)
})

test('a network outside gets few answers a second, and this machine all it asks for', async () => {
  const clock = createManualClock()
  const rates = createResponseRates(clock)
  const takes = (address: string, count: number) =>
    Array.from({ length: count }, () => rates.take(clientOf(address, RANGES))).filter(Boolean).length
  expect(takes('203.0.113.1', 150) + takes('203.0.113.200', 150)).toBe(200)
  expect(takes('203.0.114.1', 300)).toBe(200)
  expect(takes('127.0.0.1', 5_000)).toBe(5_000)
  expect(takes('10.1.0.9', 5_000)).toBe(5_000)
  await clock.advance(1_000)
  expect(takes('203.0.113.7', 300)).toBe(50)
})
