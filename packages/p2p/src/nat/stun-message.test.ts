import { expect, test } from 'vitest'
import { answerStun } from './stun-message.ts'

/** RFC 5769, section 2.1 has these cookie, transaction id and mapped address. */
const TRANSACTION = 'b7e7a701bc34d686fa87dfae'
const REQUEST = Buffer.from(`00010000${'2112a442'}${TRANSACTION}`, 'hex')

test('tells an IPv4 source where it comes from, as RFC 5769 writes it', () => {
  const answer = answerStun(REQUEST, { address: Uint8Array.of(192, 0, 2, 1), port: 32_853 })
  expect(Buffer.from(answer ?? []).toString('hex')).toBe(
    `0101000c2112a442${TRANSACTION}002000080001a147e112a643`,
  )
})

test('and an IPv6 source', () => {
  const address = Buffer.from('20010db81234567800112233445566 77'.replace(' ', ''), 'hex')
  const answer = answerStun(REQUEST, { address, port: 32_853 })
  expect(Buffer.from(answer ?? []).toString('hex')).toBe(
    `010100182112a442${TRANSACTION}002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9`,
  )
})

test.each([
  ['nothing', ''],
  ['a short packet', '000100002112a442'],
  ['an indication', `00110000${'2112a442'}${TRANSACTION}`],
  ['an answer', `01010000${'2112a442'}${TRANSACTION}`],
  ['another cookie', `00010000${'2112a443'}${TRANSACTION}`],
  ['a length that is not its own', `00010004${'2112a442'}${TRANSACTION}`],
  ['a long packet', `00010400${'2112a442'}${TRANSACTION}${'00'.repeat(1024)}`],
])('does not answer %s', (_name, hex) => {
  expect(answerStun(Buffer.from(hex, 'hex'), { address: Uint8Array.of(1, 2, 3, 4), port: 1 })).toBeUndefined()
})
