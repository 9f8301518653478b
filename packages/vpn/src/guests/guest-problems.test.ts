import type { Cidr, IpAddress } from '@mesh/core'
import { expect, test } from 'vitest'
import type { Candidate } from '../wire/control-message.ts'
import type { Guest } from './guest-file.ts'
import { guestProblems } from './guest-problems.ts'

const GUEST: Guest = {
  name: 'phone',
  address: '10.1.0.9' as IpAddress,
  publicKey: '',
  presharedKey: '',
  found: { address: '192.0.2.7' as IpAddress, isOwn: true },
  addedAt: 5,
}

function at(address: string, kind: Candidate['kind'] = 'own'): Candidate {
  return { endpoint: { address: address as IpAddress, port: 4711 }, kind }
}

function codesOf(
  given: Partial<Guest>,
  candidates: readonly Candidate[],
  port = 4711,
  range = '10.1.0.0/24',
) {
  const guests = [{ ...GUEST, ...given }]
  const own = { known: 4711, port, candidates: () => candidates, ranges: [range as Cidr] }
  const input = { ...own, guests, hasExit: () => false }
  return guestProblems(input).map(({ code }) => code)
}

test('guests that find the node are no problem', () => {
  expect(codesOf({}, [at('192.0.2.7')])).toEqual([])
  const none = { guests: [], known: undefined, candidates: () => [], ranges: [] }
  expect(guestProblems({ ...none, port: 9, hasExit: () => false })).toEqual([])
})

test('another port of the node cuts them off', () => {
  expect(codesOf({}, [at('192.0.2.8')], 4712)).toEqual(['vpn.guest_port'])
})

test('another address of the node is told, once it is known where the node is', () => {
  expect(codesOf({}, [at('192.0.2.8')])).toEqual(['vpn.guest_endpoint'])
  expect(codesOf({}, [])).toEqual([])
  const outside = { found: { address: '203.0.113.7' as IpAddress, isOwn: false } }
  expect(codesOf(outside, [at('192.0.2.8')])).toEqual([])
  expect(codesOf(outside, [at('192.0.2.8'), at('203.0.113.8', 'seen')])).toEqual(['vpn.guest_endpoint'])
  expect(codesOf({ ...outside, name: 'named' }, [at('203.0.113.7', 'mapped')])).toEqual([])
})

test("another port of the router's is told, and of the node's own addresses none is compared", () => {
  const mapped = { found: { address: '203.0.113.7' as IpAddress, port: 4711, isOwn: false } }
  expect(codesOf(mapped, [at('203.0.113.7', 'mapped')])).toEqual([])
  const other = { found: { ...mapped.found, port: 4712 } }
  expect(codesOf(other, [at('203.0.113.7', 'mapped')])).toEqual(['vpn.guest_endpoint'])
  expect(codesOf(other, [at('203.0.113.7')])).toEqual([])
})

test('the place at which the node is now stands in the hint', () => {
  const own = { known: 4711, port: 4711, ranges: ['10.1.0.0/24' as Cidr], hasExit: () => false }
  const [problem] = guestProblems({ ...own, guests: [GUEST], candidates: () => [at('192.0.2.8')] })
  expect(problem?.hint).toContain('192.0.2.8:4711')
})

test('a full tunnel to a node without an exit is told', () => {
  expect(codesOf({ fullTunnel: true }, [at('192.0.2.7')])).toEqual(['vpn.guest_no_exit'])
  const own = { known: 4711, port: 4711, ranges: ['10.1.0.0/24' as Cidr], hasExit: () => true }
  const guests = [{ ...GUEST, fullTunnel: true as const }]
  expect(guestProblems({ ...own, guests, candidates: () => [at('192.0.2.7')] })).toEqual([])
})

test('a guest of another range than the node has now is told', () => {
  expect(codesOf({}, [at('192.0.2.7')], 4711, '10.2.0.0/24')).toEqual(['vpn.guest_outside'])
})
