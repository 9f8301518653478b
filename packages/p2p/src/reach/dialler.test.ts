import { silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { GREATER_ID_WAITS_MS, MAX_NEW_DIALS_PER_MINUTE } from '../limits.ts'
import { createDialler, NeedsRelayError } from './dialler.ts'

const ADDRESS = multiaddr('/ip4/192.0.2.1/tcp/4001')

function build(
  self: string,
  answers: (peer: string) => boolean = () => true,
  takeRelay: (peer: string) => boolean = () => true,
) {
  const clock = createManualClock()
  const dialled: { peer: string; at: number }[] = []
  const connected = new Set<string>()
  const since = clock.now()
  const dialler = createDialler(
    {
      self,
      isConnected: (peer) => connected.has(peer),
      async dial(peer) {
        dialled.push({ peer, at: clock.now() - since })
        if (!answers(peer)) throw new Error('no answer')
        connected.add(peer)
      },
      takeRelay,
      onError: () => {},
    },
    { clock, random: createSeededRandom(1), logger: silentLogger },
  )
  return { clock, dialled, connected, dialler }
}

test('the smaller id dials at once, the greater one leaves it some time', async () => {
  const { clock, dialled, dialler } = build('m')
  dialler.found({ peer: 'z', addresses: [ADDRESS] })
  dialler.found({ peer: 'a', addresses: [ADDRESS] })
  await clock.advance(10)
  expect(dialled.map(({ peer }) => peer)).toEqual(['z'])
  await clock.advance(GREATER_ID_WAITS_MS)
  expect(dialled.map(({ peer }) => peer)).toEqual(['z', 'a'])
})

test('a peer that connected meanwhile is not dialled', async () => {
  const { clock, dialled, connected, dialler } = build('m')
  dialler.found({ peer: 'a', addresses: [ADDRESS] })
  connected.add('a')
  await clock.advance(10_000)
  expect(dialled).toEqual([])
  expect(dialler.size).toBe(0)
})

test('newcomers are dialled thirty a minute, configured peers at once', async () => {
  const { clock, dialled, dialler } = build('a')
  for (let peer = 0; peer < 100; peer++) dialler.found({ peer: `z${peer}`, addresses: [ADDRESS] })
  dialler.found({ peer: 'boot', addresses: [ADDRESS], kind: 'configured' })
  await clock.advance(1_000)
  expect(dialled).toHaveLength(MAX_NEW_DIALS_PER_MINUTE + 1)
  expect(dialled.some(({ peer }) => peer === 'boot')).toBe(true)
  await clock.advance(61_000)
  expect(dialled).toHaveLength(2 * MAX_NEW_DIALS_PER_MINUTE + 1)
})

test('backs off, gives a stranger up, and never a configured peer', async () => {
  const { clock, dialled, dialler } = build('a', () => false)
  dialler.found({ peer: 'stranger', addresses: [ADDRESS] })
  dialler.found({ peer: 'boot', addresses: [ADDRESS], kind: 'configured' })
  await clock.advance(3_600_000)
  const of = (name: string) => dialled.filter(({ peer }) => peer === name).map(({ at }) => at)
  expect(of('stranger')).toHaveLength(10)
  const gaps = of('stranger').map((at, index, all) => at - (all[index - 1] ?? 0))
  expect(Math.max(...gaps)).toBeGreaterThan(300_000)
  expect(of('boot').length).toBeGreaterThan(180)
  expect(dialler.size).toBe(1)
})

test('a configured peer that went is dialled again', async () => {
  const { clock, dialled, connected, dialler } = build('a')
  dialler.found({ peer: 'boot', addresses: [ADDRESS], kind: 'configured' })
  await clock.advance(100)
  connected.clear()
  await clock.advance(20_000)
  expect(dialled).toHaveLength(2)
})

test('stopping leaves no timer', async () => {
  const { clock, dialler } = build('a', () => false)
  dialler.found({ peer: 'z', addresses: [ADDRESS] })
  await clock.advance(10)
  dialler.stop()
  dialler.found({ peer: 'y', addresses: [ADDRESS] })
  await clock.advance(1)
  expect(clock.pending).toBe(0)
})

test('a peer that only a relay leads to waits for room, then is dialled again', async () => {
  let room = 0
  const asked: string[] = []
  const needsRelay = new Set(['a', 'b', 'c'])
  const { clock, dialled, connected, dialler } = build(
    'A',
    (peer) => {
      if (needsRelay.has(peer)) throw new NeedsRelayError(clock.now() + 5_000)
      return true
    },
    (peer) => {
      asked.push(peer)
      if (room === 0) return false
      room--
      needsRelay.delete(peer)
      return true
    },
  )
  for (const peer of needsRelay) dialler.found({ peer, addresses: [ADDRESS] })
  await clock.advance(60_000)
  expect(dialled).toHaveLength(3)
  // each asked once more when its time came
  expect(asked).toHaveLength(3)
  room = 2
  dialler.relayFree()
  await clock.advance(0)
  expect(dialled).toHaveLength(5)
  expect(connected.size).toBe(2)
  // told again without news it waits on; a new direct address is a reason to look
  dialler.found({ peer: [...needsRelay][0] ?? '', addresses: [ADDRESS] })
  await clock.advance(60_000)
  expect(dialled).toHaveLength(5)
  dialler.found({ peer: [...needsRelay][0] ?? '', addresses: [multiaddr('/ip4/192.0.2.2/tcp/4001')] })
  await clock.advance(3_000)
  expect(dialled).toHaveLength(6)
  expect(dialler.size).toBe(1)
})
