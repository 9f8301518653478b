import type { Cidr, IpAddress } from '@mesh/core'
import { expect, test } from 'vitest'
import type { Candidate } from '../paths/path-state.ts'
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
  const input = { guests, known: 4711, port, candidates: () => candidates, ranges: [range as Cidr] }
  return guestProblems(input).map(({ code }) => code)
}

test('guests that find the node are no problem', () => {
  expect(codesOf({}, [at('192.0.2.7')])).toEqual([])
  expect(guestProblems({ guests: [], known: undefined, port: 9, candidates: () => [], ranges: [] })).toEqual(
    [],
  )
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

test('a guest of another range than the node has now is told', () => {
  expect(codesOf({}, [at('192.0.2.7')], 4711, '10.2.0.0/24')).toEqual(['vpn.guest_outside'])
})
