import { expect, test } from 'vitest'
import { parseFile, parseListen, parseOffer } from './service-values.ts'

test('a name that cannot be one is refused with the form of a name, and an address with that of an address', () => {
  const name = { expected: 'a name of 1 to 200 bytes of UTF-8, without control characters' }
  expect(parseOffer(`${'n'.repeat(201)}=:80`)).toEqual(name)
  expect(parseFile('a\u0007b=/srv')).toEqual(name)
  expect(parseListen('web=7105')).toEqual({ expected: expect.stringContaining('HOST:PORT') })
  expect(parseOffer('my web=:80')).toEqual({ value: { name: 'my web', address: ':80' } })
})
