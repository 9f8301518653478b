/** Peers that take a connection and close it at once: a node that was shut out dialled such ones fifty times a second. */
import { expect, test } from 'vitest'
import { DIRECT, playMachines } from '../../test/played-machines.ts'
import {
  BRIEF_CONNECTION_MS,
  DIAL_BACKOFF_MIN_MS,
  MAX_VAIN_DIALS_PER_MINUTE,
  MEMBER_BACKOFF_MAX_MS,
} from './limits.ts'

/** Peers that are dialled, take each connection, and close it after so many ms. */
function playClosers(peers: readonly string[], stoodMs: number) {
  const played = playMachines('a')
  const { found, dials, open, advance, disconnect, now } = played
  for (const peer of peers) found(peer, [DIRECT], 'member', '198.51.100.1')
  const run = (ms: number, stepMs = 10) => {
    const end = now() + ms
    while (now() < end) {
      for (const peer of peers) {
        const [connection] = open(peer)
        if (connection !== undefined && now() - connection.openedAt >= stoodMs) {
          disconnect(peer, connection.id, true)
        }
      }
      advance(stepMs)
    }
  }
  const dialsOf = (peer: string) => dials.filter((dial) => dial.peer === peer).map(({ at }) => at)
  return { ...played, run, dialsOf }
}

test('members that close each connection at once are dialled less and less, and go on to be', () => {
  const { run, dialsOf, dials } = playClosers(['p', 'q'], 0)
  run(60_000)
  for (const peer of ['p', 'q']) {
    const [first = 0, second = 0, third = 0] = dialsOf(peer)
    // once at once: it may have been by chance, or to make room
    expect(second - first).toBeLessThan(100)
    expect(third - second).toBeGreaterThan(DIAL_BACKOFF_MIN_MS / 2)
    expect(dialsOf(peer).length).toBeLessThan(9)
  }
  const before = dials.length
  run(5 * MEMBER_BACKOFF_MAX_MS)
  expect(dials.length).toBeGreaterThanOrEqual(before + 4)
})

test('however many such members there are, all together are dialled so often in a minute', () => {
  const peers = Array.from({ length: 400 }, (_, at) => `p${at}`)
  const { run, dials, now } = playClosers(peers, 0)
  run(60_000, 500)
  // each once, as nobody knows yet
  expect(dials.length).toBeLessThanOrEqual(peers.length + MAX_VAIN_DIALS_PER_MINUTE)
  for (let minute = 0; minute < 2; minute++) {
    run(60_000, 500)
    expect(dials.filter(({ at }) => at > now() - 60_000).length).toBeLessThanOrEqual(
      MAX_VAIN_DIALS_PER_MINUTE,
    )
  }
}, 30_000)

test('that such a member is told of again and again brings no more dials than one a few seconds', () => {
  const { run, dialsOf, found } = playClosers(['p'], 0)
  for (let at = 0; at < 120; at++) {
    found('p', [DIRECT], 'member')
    run(500)
  }
  expect(dialsOf('p').length).toBeLessThan(12)
})

test('a connection that stood for a while is missed at once when it goes', () => {
  const { run, dialsOf } = playClosers(['p'], BRIEF_CONNECTION_MS)
  run(10 * BRIEF_CONNECTION_MS)
  expect(dialsOf('p').length).toBeGreaterThanOrEqual(9)
})
