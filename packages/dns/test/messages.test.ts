/** Packets from anybody: nothing throws, and what is wrong gets its code or silence. */
import * as dnsPacket from 'dns-packet'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildAnswer, emptyAnswer, encodeAnswer } from '../src/messages/answer.ts'
import { isQuery, readQuery } from '../src/messages/read-query.ts'
import { readReply } from '../src/messages/read-reply.ts'
import { encodeQuery } from './names-world.ts'

function rcodeOf(packet: Buffer): number | 'question' | 'silence' {
  const read = readQuery(packet)
  if (read === undefined) return 'silence'
  return isQuery(read) ? 'question' : read.rcode
}

function patched(at: number, ...bytes: readonly number[]): Buffer {
  const packet = encodeQuery('host.mesh', 'A', { opt: { size: 1232 } })
  packet.set(bytes, at)
  return packet
}

/** An IXFR question, which has the asker's SOA record in its authority section. */
function changesOfZone(): Buffer {
  const packet = patched(encodeQuery('host.mesh', 'A').length - 3, 251)
  packet.set([0, 1, 0, 0], 8)
  return packet
}

const question = encodeQuery('host.mesh', 'A')
const withOpt = encodeQuery('host.mesh', 'A', { opt: { size: 1232 } })

test.each([
  ['a question', question, 'question'],
  ['a question with OPT', withOpt, 'question'],
  ['an answer', patched(2, 0x81), 'silence'],
  ['less than a header', question.subarray(0, 11), 'silence'],
  ['a NOTIFY', patched(2, 0x20), 4],
  ['an UPDATE', patched(2, 0x28), 4],
  ['an inverse query', patched(2, 0x08), 4],
  ['no question', patched(4, 0, 0), 1],
  ['two questions', patched(4, 0, 2), 1],
  ['a question with answers', patched(6, 0, 1), 1],
  ['65,535 of everything', patched(4, 255, 255, 255, 255, 255, 255, 255, 255).subarray(0, 12), 1],
  ['a compressed name', patched(12, 0xc0, 12), 1],
  ['a name that is cut off', question.subarray(0, 20), 1],
  ['OPT that is cut off', withOpt.subarray(0, withOpt.length - 1), 1],
  ['a newer EDNS', patched(withOpt.length - 5, 1), 16],
  ['class CHAOS', patched(question.length - 1, 3), 5],
  ['a zone transfer', patched(question.length - 3, 252), 5],
  ['what changed in a zone', changesOfZone(), 5],
  ['type 0', patched(question.length - 3, 0), 1],
  ['type OPT', patched(question.length - 3, 41), 1],
] as const)('%s', (_what, packet, expected) => {
  expect(rcodeOf(packet)).toBe(expected)
})

test('OPT twice is malformed', () => {
  const opt = withOpt.subarray(question.length)
  const twice = Buffer.concat([withOpt, opt])
  twice[11] = 2
  expect(rcodeOf(twice)).toBe(1)
})

test('a name may have 255 bytes and no more', () => {
  const labels = (last: number) =>
    [...Array.from({ length: 3 }, () => 'a'.repeat(63)), 'b'.repeat(last)].join('.')
  expect(rcodeOf(encodeQuery(labels(61), 'A'))).toBe('question')
  expect(rcodeOf(encodeQuery(labels(62), 'A'))).toBe(1)
})

test('the same question in other letters has the same key, another type has not', () => {
  const key = (name: string, type: string) => {
    const read = readQuery(encodeQuery(name, type))
    return read !== undefined && isQuery(read) ? read.key : undefined
  }
  expect(key('HoSt.MeSh', 'A')).toBe(key('host.mesh', 'A'))
  expect(key('host.mesh', 'AAAA')).not.toBe(key('host.mesh', 'A'))
})

test('sizes of clients are kept within bounds', () => {
  for (const [size, maxBytes] of [
    [1, 512],
    [900, 900],
    [65_535, 1232],
  ]) {
    const read = readQuery(encodeQuery('host.mesh', 'A', { opt: { size: size ?? 0 } }))
    expect(read?.edns?.maxBytes).toBe(maxBytes)
  }
})

const bytes = fc.uint8Array({ maxLength: 600 }).map((each) => Buffer.from(each))
const mutated = fc
  .tuple(
    fc.constantFrom(question, withOpt),
    fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 6 }),
    fc.nat(60),
  )
  .map(([packet, changes, cut]) => {
    const copy = Buffer.from(packet)
    for (const [at, byte] of changes) if (at < copy.length) copy[at] = byte
    return copy.subarray(0, Math.max(0, copy.length - (cut > 40 ? cut - 40 : 0)))
  })

test('no packet throws, and every answer to one can be decoded', () => {
  fc.assert(
    fc.property(fc.oneof(bytes, mutated), (packet) => {
      const read = readQuery(packet)
      if (read === undefined) return
      const asked = isQuery(read) ? read : { ...read, packet }
      const answer = emptyAnswer(isQuery(read) ? 0 : read.rcode)
      const out = encodeAnswer(answer, asked, { maxBytes: 65_535, ageS: 0, recursion: true })
      expect(out.readUInt16BE(0)).toBe(packet.readUInt16BE(0))
      expect(dnsPacket.decode(out).type).toBe('response')
      // an answer may not be much longer than what asked for it
      expect(out.length).toBeLessThanOrEqual(packet.length + 11)
    }),
    { numRuns: 5_000 },
  )
})

const sent = { id: 7, question: question.subarray(12) }

test('no reply of a server throws', () => {
  const reply = dnsPacket.encode({
    type: 'response',
    id: 7,
    questions: [{ name: 'host.mesh', type: 'A' }],
    answers: [{ name: 'host.mesh', type: 'A', ttl: 5, data: '10.1.0.5' }],
    additionals: [{ name: '.', type: 'OPT', udpPayloadSize: 1232, flags: 0, options: [] } as never],
  })
  const changes = fc.array(fc.tuple(fc.nat(reply.length - 1), fc.nat(255)), { maxLength: 5 })
  fc.assert(
    fc.property(fc.oneof(bytes, changes), fc.nat(20), fc.boolean(), (what, cut, overTcp) => {
      const packet = Array.isArray(what) ? Buffer.from(reply) : what
      if (Array.isArray(what)) for (const [at, byte] of what) packet[at] = byte
      const kept = packet.subarray(0, packet.length - Math.max(0, cut - 15))
      expect(() => readReply(kept, sent, overTcp)).not.toThrow()
    }),
    { numRuns: 5_000 },
  )
})

test('a reply counts only with the id, and the letters, that were sent', () => {
  const replyTo = (name: string, id: number, flags = 0) =>
    dnsPacket.encode({ type: 'response', id, flags, questions: [{ name, type: 'A' }], answers: [] })
  const expected = { id: 7, question: encodeQuery('hOsT.mesh', 'A').subarray(12) }
  const kind = (packet: Buffer, overTcp = false) => readReply(packet, expected, overTcp).kind
  expect(kind(replyTo('hOsT.mesh', 7))).toBe('answer')
  expect(kind(replyTo('hOsT.mesh', 8))).toBe('stranger')
  expect(kind(replyTo('other.mesh', 7))).toBe('stranger')
  expect(kind(encodeQuery('hOsT.mesh', 'A'))).toBe('stranger')
  expect(kind(replyTo('host.mesh', 7))).toBe('truncated')
  expect(kind(replyTo('host.mesh', 7), true)).toBe('answer')
  expect(kind(replyTo('hOsT.mesh', 7, 0x200))).toBe('truncated')
})

test('an answer keeps the letters of who asks, and is cut where it does not fit', () => {
  const data = Buffer.from([10, 1, 0, 5])
  const record = { name: 'host.mesh.', type: 1, ttl: 30, data, text: '' }
  const many = Array.from({ length: 100 }, () => record)
  const answer = buildAnswer({ rcode: 0, name: 'host.mesh.', answers: many, authority: [] })
  const packet = encodeQuery('HoSt.mEsH', 'A')
  const asked = { packet, questionEnd: packet.length, edns: undefined }
  const whole = dnsPacket.decode(encodeAnswer(answer, asked, { maxBytes: 65_535, ageS: 0, recursion: true }))
  expect(whole.answers?.[99]).toMatchObject({ name: 'HoSt.mEsH', ttl: 30, data: '10.1.0.5' })
  const cut = dnsPacket.decode(encodeAnswer(answer, asked, { maxBytes: 512, ageS: 0, recursion: true }))
  expect(cut).toMatchObject({ flag_tc: true, answers: [] })
})

test('answers to many names share a long value, whose parts follow each other', () => {
  const data = Buffer.alloc(60_000, 0xff)
  const answers = ['a.mesh.', 'b.mesh.'].map((name) => {
    const record = { name, type: 65_280, ttl: 30, data, text: '' }
    return buildAnswer({ rcode: 0, name, answers: [record, record], authority: [] })
  })
  for (const { body, bodyBytes } of answers) {
    expect(body.filter((part) => part.length >= data.length)).toEqual([data, data])
    expect(body.filter((part) => part.buffer === data.buffer)).toHaveLength(2)
    expect(bodyBytes).toBe(2 * (12 + data.length))
    const packet = encodeQuery('a.mesh', 'A')
    const answer = { rcode: 0, authoritative: true, authentic: false, counts: [2, 0, 0], ttls: [] } as const
    const asked = { packet, questionEnd: packet.length, edns: undefined }
    const whole = encodeAnswer({ ...answer, body, bodyBytes }, asked, {
      maxBytes: 2 ** 20,
      ageS: 0,
      recursion: false,
    })
    expect(whole.subarray(packet.length)).toEqual(Buffer.concat(body))
  }
})
