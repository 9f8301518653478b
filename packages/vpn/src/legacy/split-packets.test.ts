import { createSeededRandom } from '@mesh/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPacketGatherer, packetLength, packetsOf } from './split-packets.ts'
import { packet } from '../testing/packet.ts'

const [v4, v6] = [packet('10.1.0.1', '10.1.0.2', 30), packet('fd00::1', 'fd00::2', 0)]

describe('cutting packets by their lengths', () => {
  it('finds packets of both families behind each other, and the beginning of the next', () => {
    const bytes = Buffer.concat([v4, v6, v4.subarray(0, 25)])
    const { packets, rest, bad } = packetsOf(bytes)
    expect(packets).toEqual(bytes.subarray(0, v4.length + v6.length))
    expect([rest.length, bad]).toEqual([25, false])
  })

  it('stops at what is no packet', () => {
    const { packets, rest, bad } = packetsOf(Buffer.concat([v4, Uint8Array.of(0x15, 0, 0, 40)]))
    expect([packets.length, rest.length, bad]).toEqual([v4.length, 0, true])
  })

  it('knows a length as soon as it has come, and refuses lengths that no packet has', () => {
    expect(packetLength(v4.subarray(0, 3))).toBe(0)
    expect(packetLength(v4.subarray(0, 4))).toBe(v4.length)
    expect(packetLength(v6.subarray(0, 5))).toBe(0)
    expect(packetLength(v6.subarray(0, 6))).toBe(40)
    expect(packetLength(Uint8Array.of(0x45, 0, 0, 19))).toBeUndefined()
    expect(packetLength(Uint8Array.of(0x45, 0, 0, 0))).toBeUndefined()
    expect(packetLength(Uint8Array.of(0x60, 0, 0, 0, 0xff, 0xff))).toBeUndefined()
    expect(packetLength(new Uint8Array())).toBe(0)
  })

  it('gathers the same packets wherever the stream was cut', () => {
    const lengths = fc.array(fc.tuple(fc.boolean(), fc.nat(3000)), { maxLength: 12 })
    fc.assert(
      fc.property(lengths, fc.integer(), (shapes, seed) => {
        const random = createSeededRandom(seed)
        const bytes = Buffer.concat(
          shapes.map(([is6, payload]) =>
            packet(is6 ? 'fd00::1' : '10.1.0.1', is6 ? 'fd00::2' : '10.1.0.2', payload),
          ),
        )
        const gathered: Uint8Array[] = []
        const gatherer = createPacketGatherer((packets) => gathered.push(Uint8Array.from(packets)))
        for (let at = 0; at < bytes.length; ) {
          const next = at + 1 + Math.floor(random.float() ** 3 * 2000)
          expect(gatherer.push(bytes.subarray(at, next))).toBe(true)
          at = next
        }
        expect(Buffer.concat(gathered)).toEqual(bytes)
        expect(gatherer.held).toBe(0)
      }),
    )
  })

  it('hands on whole packets only, and holds no more than one, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 3000, size: 'max' })), (chunks) => {
        const gatherer = createPacketGatherer((packets) => {
          const again = packetsOf(packets)
          expect([again.packets.length, again.rest.length, again.bad]).toEqual([packets.length, 0, false])
        })
        for (const chunk of chunks) {
          // most begin like a packet
          if (chunk.length > 0 && (chunk[0] ?? 0) < 200) chunk[0] = (chunk[0] ?? 0) % 2 === 0 ? 0x45 : 0x60
          const taken = gatherer.push(chunk)
          expect(gatherer.held).toBeLessThanOrEqual(65_535)
          expect(taken || !gatherer.push(v4)).toBe(true)
        }
      }),
    )
  })

  it('takes a long packet in single bytes without copying it again and again', () => {
    const long = packet('10.1.0.1', '10.1.0.2', 65_000)
    let gathered = 0
    const gatherer = createPacketGatherer((packets) => (gathered += packets.length))
    for (let at = 0; at < long.length; at++) gatherer.push(long.subarray(at, at + 1))
    expect(gathered).toBe(long.length)
  })
})
