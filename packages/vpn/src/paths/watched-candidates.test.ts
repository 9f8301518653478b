import { type IpAddress, silentLogger, tryParseAddressInRange } from '@mesh/core'
import type { Endpoint } from '@mesh/engine'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import type { OwnSockets } from './own-sockets.ts'
import { SeenAddresses } from './seen-addresses.ts'
import { WatchedCandidates } from './watched-candidates.ts'

function at(address: string, port = 4711): Endpoint {
  return { address: address as IpAddress, port }
}

const noMapping: (mapped: readonly Endpoint[]) => void = () => {}

function watched() {
  const clock = createManualClock()
  const world = { own: ['192.168.1.2'], seen: new SeenAddresses(() => 4711), onMapped: noMapping }
  const candidates = new WatchedCandidates(
    {
      vpnRanges: () => [],
      interfaceName: () => 'mesh0',
      networks: () =>
        world.own.flatMap((text) => {
          const address = tryParseAddressInRange(`${text}/24`)
          return address === undefined ? [] : [{ interface: 'eth0', address }]
        }),
    },
    {
      engine: { udpPort: 4711 },
      sockets: { ownSeen: world.seen, seen: world.seen, returnToOwn() {} } as unknown as OwnSockets,
      mapPort(_port, onMapped) {
        world.onMapped = onMapped
        return () => {}
      },
      onChange: () => {},
      clock,
      log: silentLogger,
    },
  )
  candidates.start()
  const say = (witness: string, endpoint: Endpoint, isOwn = false) =>
    world.seen.learn(witness as never, endpoint, { now: clock.monotonic(), isOwn })
  const outside = () =>
    candidates
      .readOwn()
      .filter(({ kind }) => kind !== 'own')
      .map(({ kind, endpoint }) => `${kind} ${endpoint.address}:${endpoint.port}`)
  return { clock, world, candidates, say, outside }
}

test('the latest word comes first, and one that is old or of this machine itself counts for nothing', async () => {
  const { clock, say, outside, candidates } = watched()
  say('a', at('5.5.5.1'))
  await clock.advance(30_000)
  say('b', at('5.5.5.9'))
  say('c', at('192.168.1.3'), true)
  expect(outside()).toEqual(['seen 5.5.5.9:4711', 'seen 5.5.5.1:4711'])
  await clock.advance(40_000)
  expect(outside()).toEqual(['seen 5.5.5.9:4711'])
  candidates.stop()
})

test('after the machine moved, words and ports of before count for nothing', async () => {
  const { clock, world, say, outside, candidates } = watched()
  world.onMapped([at('5.5.5.1', 4000)])
  expect(outside()).toEqual(['mapped 5.5.5.1:4000'])
  say('a', at('5.5.5.1'))
  expect(outside()).toEqual(['mapped 5.5.5.1:4000', 'seen 5.5.5.1:4711'])
  await clock.advance(1_000)
  world.own = ['10.0.0.2']
  expect(outside()).toEqual([])
  await clock.advance(1_000)
  say('a', at('6.6.6.1', 5000))
  expect(outside()).toEqual(['seen 6.6.6.1:5000'])
  world.onMapped([at('6.6.6.1', 4001)])
  expect(outside()).toEqual(['mapped 6.6.6.1:4001', 'seen 6.6.6.1:5000'])
  candidates.stop()
})

test("a router's port at an address that it has no more is not told", () => {
  const { world, say, outside, candidates } = watched()
  world.onMapped([at('5.5.5.1', 4000)])
  say('a', at('5.5.5.2'))
  expect(outside()).toEqual(['seen 5.5.5.2:4711'])
  candidates.stop()
})

test('an address that comes and goes at a link alone is no move', async () => {
  const { clock, world, say, outside, candidates } = watched()
  say('a', at('5.5.5.1'))
  await clock.advance(1_000)
  world.own = ['192.168.1.2', 'fe80::1']
  expect(outside()).toEqual(['seen 5.5.5.1:4711'])
  candidates.stop()
})
