import { expect, test } from 'vitest'
import { describeReach, MAX_REACH_CHARACTERS, reachPhase } from './describe.ts'
import { DIRECT, type Played, playMachines, RELAYED } from '../../test/played-machines.ts'

const RELAY_AT = '/ip4/192.0.2.9/tcp/4001/p2p/12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'

function line({ machines, now }: Played, peer: string): string {
  const state = machines.get(peer)
  return state === undefined ? '' : describeReach(state, now())
}

test('a peer that answers nowhere says what was tried and when it is tried next', () => {
  const played = playMachines('a', { answer: () => 'fails' })
  played.take('z', { type: 'found', addresses: [DIRECT, DIRECT], kind: 'found', source: 'mdns' })
  expect(line(played, 'z')).toBe('away; 1 address from mdns; waits for its turn to be dialled')
  played.advance(100)
  expect(line(played, 'z')).toMatch(
    /^away; 1 address from mdns; 1 dials? failed; last: no answer; next dial in \d s$/,
  )
})

test('a relayed peer says by whom, why, and when it is tried to become direct', () => {
  const played = playMachines('a', { answer: () => 'fails', surroundings: { canUpgrade: true } })
  played.connect('z', { direct: false, relayAt: RELAY_AT })
  expect(line(played, 'z')).toMatch(
    /^relayed by .{4,20} for 0 s, dialled by this node; not yet tried to become direct; tries again in \d+ s$/,
  )
  played.advance(1_000)
  expect(line(played, 'z')).toMatch(/; no direct way through the networks between us; tries again in 1\d s$/)
})

test('a direct peer says by which transport and who dialled', () => {
  const played = playMachines('a')
  played.connect('z', { outbound: false })
  played.advance(300_000)
  expect(line(played, 'z')).toBe('direct by tcp for 5 min, dialled by the peer')
})

test('one that only a relay leads to says that it waits or rests', () => {
  const played = playMachines('a', { answer: () => 'hangs' })
  for (const peer of ['y', 'z']) played.found(peer, [RELAYED], 'member')
  played.advance(5_000)
  const lines = [line(played, 'y'), line(played, 'z')]
  expect(lines.some((text) => text.startsWith('dialling over a relay'))).toBe(true)
  expect(lines.some((text) => text.endsWith('only a relay leads there: waits for its turn'))).toBe(true)
})

test('the phase changes with what happens and not with time, and the line is bounded', () => {
  const played = playMachines('a', { answer: () => 'hangs' })
  played.found('z')
  const before = played.machines.get('z')
  played.advance(10)
  const dialling = played.machines.get('z')
  if (before === undefined || dialling === undefined) throw new Error('not known')
  expect(reachPhase(dialling)).not.toBe(reachPhase(before))
  expect(describeReach({ ...before, lastError: 'x'.repeat(500) }, 0)).toHaveLength(MAX_REACH_CHARACTERS)
})
