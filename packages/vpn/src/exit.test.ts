import type { PeerId } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { OwnExit } from './exit.ts'
import { exitProblems } from './exit-problems.ts'
import { EXIT_SEARCH_MS } from './limits.ts'
import type { ExitChoice } from './table/choose-exit.ts'

const GATE = '12D3KooWGate' as PeerId
const CHOSEN: Extract<ExitChoice, { state: 'chosen' }> = {
  state: 'chosen',
  offer: { peer: GATE, hostname: 'gate', families: ['ipv4', 'ipv6'], faults: [] },
  standby: [],
  pinned: [GATE],
}
const UNKNOWN: ExitChoice = { state: 'unknown', peer: undefined }

function exitOf(kept?: string) {
  const clock = createManualClock()
  const world = { isReached: false, written: '', told: [] as (string | undefined)[], isWatched: true }
  const udp = { state: 'none' }
  const exit: OwnExit = new OwnExit('gate', {
    clock,
    network: { onPath: () => () => void (world.isWatched = false) },
    store: { read: () => kept, write: (text) => void (world.written = text) },
    tunnels: () => ({
      status: () =>
        ({ kind: 'wireguard', udp, path: world.isReached ? { path: 'direct' } : undefined }) as never,
    }),
    onChange: () => void world.told.push(exit.status()?.state),
  })
  return { clock, world, exit }
}

function codesOf(exit: OwnExit, choice: ExitChoice) {
  return exitProblems(exit.status(), choice).map(({ code, severity }) => [code, severity])
}

test('an exit is looked for until it is reached, which is no error, and gone when it is lost', () => {
  const { exit, world, clock } = exitOf()
  const end = exit.begin()
  exit.learn(UNKNOWN)
  expect(codesOf(exit, UNKNOWN)).toEqual([['vpn.exit_searching', 'warning']])
  exit.learn(CHOSEN)
  expect(exit.status()).toMatchObject({ state: 'searching', peer: GATE, hostname: 'gate' })
  expect(world.written).toBe(`gate\n${GATE}\n`)
  world.isReached = true
  exit.follow()
  expect(codesOf(exit, CHOSEN)).toEqual([])
  world.isReached = false
  exit.follow()
  expect(codesOf(exit, CHOSEN)).toEqual([['vpn.exit_gone', 'error']])
  // also when the ledger forgot it
  exit.learn(UNKNOWN)
  expect(codesOf(exit, UNKNOWN)).toEqual([['vpn.exit_gone', 'error']])
  end()
  world.isReached = true
  exit.learn(CHOSEN)
  expect(world.told).toEqual(['searching', 'up', 'gone'])
  expect([world.isWatched, clock.pending]).toEqual([false, 0])
})

test('one that is not reached in time is gone, whatever is known of it, and that is told', async () => {
  const { exit, world, clock } = exitOf(`gate\n${GATE}\n`)
  exit.learn(CHOSEN)
  // until the VPN runs nothing can be reached
  await clock.advance(10 * EXIT_SEARCH_MS)
  expect(exit.status()?.state).toBe('searching')
  exit.begin()
  await clock.advance(EXIT_SEARCH_MS - 1)
  expect(exit.status()?.state).toBe('searching')
  await clock.advance(1)
  expect(codesOf(exit, CHOSEN)).toEqual([['vpn.exit_gone', 'error']])
  expect(world.told).toEqual(['searching', 'gone'])
  expect(clock.pending).toBe(0)
})

test('another one is looked for anew, and none is none', async () => {
  const { exit, world, clock } = exitOf()
  exit.begin()
  world.isReached = true
  exit.learn(CHOSEN)
  await clock.advance(2 * EXIT_SEARCH_MS)
  expect(exit.status()?.state).toBe('up')
  exit.change('nas')
  // the table before knows who the one before is
  expect(exit.status()).toMatchObject({ wanted: 'nas', peer: undefined, state: 'searching' })
  exit.learn(UNKNOWN)
  await clock.advance(EXIT_SEARCH_MS)
  expect(exit.status()?.state).toBe('gone')
  exit.change(undefined)
  exit.learn(undefined)
  expect([exit.status(), exit.wish(), clock.pending]).toEqual([undefined, undefined, 0])
})

test('several of one name are an error at once: waiting does not help', () => {
  const { exit } = exitOf()
  const choice: ExitChoice = { state: 'ambiguous', peers: [GATE, 'other' as PeerId] }
  const end = exit.begin()
  exit.learn(choice)
  expect(codesOf(exit, choice)).toEqual([['vpn.exit_gone', 'error']])
  end()
})

test('what an exit says is wrong there is told, with where to look', () => {
  const { exit, world } = exitOf()
  exit.begin()
  world.isReached = true
  const faulty: ExitChoice = { ...CHOSEN, offer: { ...CHOSEN.offer, faults: ['exit.firewall'] } }
  exit.learn(faulty)
  expect(exitProblems(exit.status(), faulty)).toEqual([
    {
      code: 'vpn.exit_faulty',
      severity: 'warning',
      title: expect.stringMatching(/^The exit node gate \(\S+\) says that a firewall there drops/),
      hint: expect.stringContaining('exit.firewall'),
    },
  ])
})
