import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_REASON_LENGTH } from '../limits.ts'
import {
  ANSWER_CODES,
  decodeAnswer,
  decodeEgressRequest,
  decodeServiceRequest,
  encodeAnswer,
  encodeEgressRequest,
  encodeServiceRequest,
} from './messages.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))

describe('the vectors of docs/PROTOCOLS.md', () => {
  test('a request for a UDP service', () => {
    const request = { name: 'dns', kind: 'datagram', entries: Uint8Array.of(0x7b, 0x7d) } as const
    expect(hex(encodeServiceRequest(request))).toBe('0a03646e7310011a027b7d')
    expect(decodeServiceRequest(bytes('0a03646e7310011a027b7d'))).toEqual(request)
  })

  test('a request to an egress node', () => {
    const request = { host: 'example.org', port: 443, entries: new Uint8Array() }
    expect(hex(encodeEgressRequest(request))).toBe('0a0b6578616d706c652e6f726710bb031a00')
    expect(decodeEgressRequest(bytes('0a0b6578616d706c652e6f726710bb031a00'))).toEqual(request)
  })

  test('a refusal', () => {
    expect(hex(encodeAnswer('unknown_service', 'no'))).toBe('080212026e6f')
    expect(decodeAnswer(bytes('080212026e6f'))).toEqual({ code: 'unknown_service', reason: 'no' })
  })
})

test('every code comes back, an unknown one as such, and a long reason is cut', () => {
  for (const code of ANSWER_CODES)
    expect(decodeAnswer(encodeAnswer(code, 'why'))).toEqual({ code, reason: 'why' })
  expect(decodeAnswer(bytes('086312026e6f'))).toEqual({ code: 'unknown', reason: 'no' })
  expect(decodeAnswer(encodeAnswer('busy', 'x'.repeat(10_000)))?.reason).toHaveLength(MAX_REASON_LENGTH)
})

test('an empty answer is a yes, and fields of later versions are skipped', () => {
  expect(decodeAnswer(new Uint8Array())).toEqual({ code: 'ok', reason: '' })
  expect(decodeServiceRequest(bytes('0a03646e7310011a027b7dfa0103616263'))?.name).toBe('dns')
})

test.each([
  ['no name', ''],
  ['a kind that does not exist', '0a03646e731005'],
  ['a length beyond the end', '0a7f61'],
])('%s is no request for a service', (_name, text) => {
  expect(decodeServiceRequest(bytes(text))).toBeUndefined()
})

test.each([
  ['no port', '0a0161'],
  ['port 65536', '0a016110808004'],
])('%s is no request to an egress node', (_name, text) => {
  expect(decodeEgressRequest(bytes(text))).toBeUndefined()
})

test('whatever comes, decoding does not throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (garbage) => {
      for (const decode of [decodeServiceRequest, decodeEgressRequest, decodeAnswer]) {
        expect(() => decode(garbage)).not.toThrow()
      }
    }),
  )
})
