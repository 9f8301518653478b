import type { LogFields, Logger } from '@mesh/core'
import type { P2pEvent, P2pNode } from '@mesh/p2p'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { logMembers } from './log-members.ts'

function createScene() {
  const clock = createManualClock()
  const members = new Set<string>()
  const lines: (readonly [string, LogFields | undefined])[] = []
  let tell: (event: P2pEvent) => void = () => {}
  const none = () => {}
  const log: Logger = {
    debug: none,
    warn: none,
    error: none,
    info: (message, fields) => lines.push([message, fields]),
    child: () => log,
  }
  const p2p = {
    subscribe(listener: (event: P2pEvent) => void) {
      tell = listener
      return () => (tell = none)
    },
    peer: (id: string) => ({ member: members.has(id) }),
  } as unknown as Pick<P2pNode, 'subscribe' | 'peer'>
  const stop = logMembers({ p2p, names: () => new Map([['a', 'nas']]), clock, log })
  return {
    clock,
    members,
    lines,
    stop,
    come: (peer: string) => tell({ type: 'peer.connected', peer, path: 'direct' }),
    go: (peer: string) => tell({ type: 'peer.disconnected', peer }),
  }
}

test('those who come together are one line, by name; strangers are none', async () => {
  const { clock, members, lines, come } = createScene()
  for (const peer of ['a', 'b', 'stranger']) come(peer)
  for (const peer of ['a', 'b']) members.add(peer)
  expect(lines).toEqual([])
  await clock.advance(2_000)
  expect(lines).toEqual([['members found', { peers: ['a', 'b'], names: ['nas', 'b'] }]])
  // a legacy member shows itself later
  members.add('stranger')
  await clock.advance(2_000)
  expect(lines.at(-1)).toEqual(['members found', { peers: ['stranger'], names: ['stranger'] }])
})

test('a stranger is looked at no more after a minute', async () => {
  const { clock, lines, come, stop } = createScene()
  come('stranger')
  await clock.advance(61_000)
  expect(clock.pending).toBe(0)
  expect(lines).toEqual([])
  stop()
})

test('a member that goes is told once, and one that comes back at once not at all', async () => {
  const { clock, members, lines, come, go, stop } = createScene()
  members.add('a')
  come('a')
  await clock.advance(2_000)
  go('a')
  come('a')
  await clock.advance(2_000)
  expect(lines).toHaveLength(1)
  go('a')
  await clock.advance(2_000)
  expect(lines.slice(1)).toEqual([['members lost', { peers: ['a'], names: ['nas'] }]])
  come('a')
  await clock.advance(2_000)
  expect(lines).toHaveLength(3)
  stop()
})
