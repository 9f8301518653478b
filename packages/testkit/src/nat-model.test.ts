import { expect, test } from 'vitest'
import { Nat, NAT_KINDS, type NatKind, punches } from './nat-model.ts'

const STUN = { ip: '9.9.9.9', port: 3478 }
const punch = (a: NatKind, b: NatKind) =>
  punches([new Nat(a, '1.1.1.1'), new Nat(b, '2.2.2.2')], STUN, { now: 0, passes: () => true })

test('two NATs let a connection through unless both choose a port for each peer, or filter by port', () => {
  const blocked = NAT_KINDS.flatMap((a) => NAT_KINDS.filter((b) => !punch(a, b)).map((b) => `${a} ${b}`))
  const expected = [
    'port-restricted symmetric',
    'symmetric port-restricted',
    'symmetric symmetric',
    ...NAT_KINDS.flatMap((kind) => [`${kind} udp-blocked`, `udp-blocked ${kind}`]),
  ]
  expect(new Set(blocked)).toEqual(new Set(expected))
})

test('a mapping is forgotten in time', () => {
  const nat = new Nat('port-restricted', '1.1.1.1')
  const out = nat.send(5_000, STUN, 0)
  expect(nat.receive(out?.port ?? 0, STUN, 1_000)).toBe(5_000)
  expect(nat.receive(out?.port ?? 0, { ...STUN, port: 1 }, 1_000)).toBeUndefined()
  expect(nat.receive(out?.port ?? 0, STUN, 61_000)).toBeUndefined()
})
