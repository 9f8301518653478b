import type { Connection, Stream, StreamHandler } from '@libp2p/interface'
import type { Registrar } from '@libp2p/interface-internal'
import { createManualClock } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { RELAY_REQUESTS } from './limits.ts'
import { RELAY_HOP } from '../protocols.ts'
import { boundRelaying } from './inbound-rates.ts'

test('who asks a relay without pause is refused before anything is read, by address and in all', async () => {
  const clock = createManualClock()
  let served = 0
  const handlers = new Map<string, StreamHandler>([[RELAY_HOP, () => void served++]])
  const registrar = {
    getHandler: (protocol: string) => ({ handler: handlers.get(protocol), options: {} }),
    handle: async (protocol: string, handler: StreamHandler) => void handlers.set(protocol, handler),
  }
  await boundRelaying(registrar as unknown as Registrar, clock)
  let refused = 0
  const stream = { abort: () => refused++ } as unknown as Stream
  const ask = (host: string, times: number) => {
    const connection = { remoteAddr: multiaddr(`/ip4/${host}/tcp/4001`) } as Connection
    for (let at = 0; at < times; at++) void handlers.get(RELAY_HOP)?.(stream, connection)
  }
  ask('192.0.2.1', 1_000)
  expect([served, refused]).toEqual([
    RELAY_REQUESTS.perAddress.burst,
    1_000 - RELAY_REQUESTS.perAddress.burst,
  ])
  for (let host = 2; host < 20; host++) ask(`192.0.2.${host}`, 100)
  expect(served).toBe(RELAY_REQUESTS.all.burst)
  await clock.advance(1_000)
  ask('192.0.2.1', 100)
  // what comes anew is for who had little
  expect(served).toBe(RELAY_REQUESTS.all.burst)
  ask('198.51.100.1', 10)
  expect(served).toBe(RELAY_REQUESTS.all.burst + 10)
})
