import { systemRandom } from '@mesh/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatInviteCode, formatInviteLink, parseInviteCode } from './invite-code.ts'

test('a code is read as it was written, and one with a wrong letter is refused', () => {
  const seed = systemRandom.bytes(32)
  const code = formatInviteCode(seed)
  expect(code).toMatch(/^mesh-invite-[\w-]{48}$/)
  expect(Uint8Array.from(parseInviteCode(`${code}\n`))).toEqual(seed)
  expect(formatInviteLink(code)).toBe(`mesh://join/${code}`)
  expect(Uint8Array.from(parseInviteCode(` mesh://join/${code}\n`))).toEqual(seed)
  expect(() => parseInviteCode(`https://join/${code}`)).toThrow(/no code of an invite/)
  const last = code.at(20) === 'A' ? 'B' : 'A'
  expect(() => parseInviteCode(code.slice(0, 20) + last + code.slice(21))).toThrow(/no code of an invite/)
  fc.assert(
    fc.property(fc.string(), (drawn) => {
      expect(() => parseInviteCode(drawn)).toThrow(expect.objectContaining({ code: 'trust.bad_invite' }))
    }),
  )
})
