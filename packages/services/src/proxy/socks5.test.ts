import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readGreeting, readRequest } from './socks5.ts'

test('a greeting that offers no authentication is taken, another is not', () => {
  expect(readGreeting(Uint8Array.of(5, 2, 0, 2))).toMatchObject({
    kind: 'methods',
    taken: 4,
    isAccepted: true,
  })
  expect(readGreeting(Uint8Array.of(5, 1, 2))).toMatchObject({
    isAccepted: false,
    reply: Uint8Array.of(5, 0xff),
  })
  expect(readGreeting(Uint8Array.of(5, 3, 0))).toEqual({ kind: 'more' })
  expect(readGreeting(Uint8Array.of(4, 1, 0)).kind).toBe('refused')
})

test.each([
  ['IPv4', [5, 1, 0, 1, 1, 2, 3, 4, 0, 80], { host: '1.2.3.4', port: 80 }],
  ['a name', [5, 1, 0, 3, 3, 0x61, 0x2e, 0x62, 1, 187], { host: 'a.b', port: 443 }],
  [
    'IPv6',
    [5, 1, 0, 4, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 22],
    { host: '2001:db8:0:0:0:0:0:1', port: 22 },
  ],
])('%s, with what came behind it left alone', (_name, bytes, destination) => {
  const step = readRequest(Uint8Array.from([...bytes, 9, 9]))
  expect(step).toEqual({ kind: 'connect', taken: bytes.length, destination })
  for (let length = 0; length < bytes.length; length++) {
    expect(readRequest(Uint8Array.from(bytes.slice(0, length)))).toEqual({ kind: 'more' })
  }
})

test.each([
  ['BIND', [5, 2, 0, 1, 1, 2, 3, 4, 0, 80], 7],
  ['an unknown kind of address', [5, 1, 0, 9, 1, 2, 3, 4, 0, 80], 8],
  ['an empty name', [5, 1, 0, 3, 0, 0, 80], 1],
  ['port 0', [5, 1, 0, 1, 1, 2, 3, 4, 0, 0], 1],
])('%s is refused with its code', (_name, bytes, code) => {
  const step = readRequest(Uint8Array.from(bytes))
  expect(step.kind === 'refused' && step.reply[1]).toBe(code)
})

test('whatever comes, reading does not throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (garbage) => {
      expect(() => readGreeting(garbage)).not.toThrow()
      expect(() => readRequest(garbage)).not.toThrow()
    }),
  )
})
