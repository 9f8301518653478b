import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import {
  FRAME_BASE_MS,
  MAX_HELD_BYTES,
  MAX_HELD_BYTES_PER_PEER,
  MAX_STRANGERS_HELD_BYTES,
  MIN_FRAME_BYTES_PER_S,
} from './limits.ts'
import { HeldBytes, TooMuchHeldError } from './held-bytes.ts'

const MIB = 1024 * 1024

function build(isMember: (peer: string) => boolean = () => true, maxFrameBytes = 20 * MIB) {
  const clock = createManualClock()
  const held = new HeldBytes({ isMember, maxFrameBytes, clock })
  const ended: string[] = []
  const hold = (peer: string, address: string) => {
    const track = held.track({ peer, address, abort: () => ended.push(peer) })
    return (bytes: number) => track(bytes)
  }
  return { clock, held, ended, hold }
}

test("one address with many keys ends its own largest frame, and nobody else's", () => {
  const { held, ended, hold } = build()
  hold('honest', '192.0.2.1')(10 * MIB)
  for (let at = 0; at < 15; at++) {
    tryTo(() => hold(`sybil${at}`, '192.0.2.66')((12 + at / 2) * MIB))
    expect(held.bytes).toBeLessThanOrEqual(MAX_HELD_BYTES)
  }
  expect(ended).not.toContain('honest')
})

test('one peer holds no more than a frame of the greatest size, on however many streams', () => {
  const { held, hold } = build()
  hold('peer', '192.0.2.1')(15 * MIB)
  expect(() => hold('peer', '192.0.2.1')(16 * MIB)).toThrow(TooMuchHeldError)
  expect(held.bytes).toBeLessThanOrEqual(MAX_HELD_BYTES_PER_PEER)
})

test('strangers hold a part of it, and members the rest', () => {
  const { held, hold } = build((peer) => peer === 'member')
  for (let at = 0; at < 30; at++) {
    tryTo(() => hold(`stranger${at}`, `192.0.2.${at}`)(MIB))
  }
  expect(held.bytes).toBeLessThanOrEqual(MAX_STRANGERS_HELD_BYTES)
  hold('member', '198.51.100.1')(15 * MIB)
  expect(held.bytes).toBeGreaterThan(MAX_STRANGERS_HELD_BYTES)
})

test("each bound has room for one of the network's longest frames, and no more than a little", () => {
  const { held, ended, hold } = build((peer) => peer === 'member', 256 * MIB)
  hold('member', '198.51.100.1')(256 * MIB)
  for (let at = 0; at < 30; at++) {
    tryTo(() => hold(`stranger${at}`, `192.0.2.${at}`)(5 * MIB))
    expect(held.bytes).toBeLessThanOrEqual(268 * MIB)
  }
  expect(ended).not.toContain('member')
  hold('member', '198.51.100.1')(2 * MIB)
  expect(ended).toContain('member')

  const alone = build(() => false, 256 * MIB)
  alone.hold('legacy', '192.0.2.1')(256 * MIB)
  expect(alone.held.bytes).toBe(256 * MIB)
  alone.hold('other', '192.0.2.2')(2 * MIB)
  expect(alone.held.bytes).toBe(2 * MIB)
})

test('a frame that does not come on ends, and a slow one that does may take its time', async () => {
  const { clock, ended, hold } = build()
  hold('silent', '192.0.2.1')(1)
  const slow = hold('slow', '192.0.2.2')
  for (let second = 0; second <= 60; second++) {
    slow(2 * MIN_FRAME_BYTES_PER_S * (second + 1))
    await clock.advance(1_000)
  }
  expect(ended).toEqual(['silent'])
  await clock.advance(FRAME_BASE_MS + 120_000)
  expect(ended).toEqual(['silent', 'slow'])
})

test('a whole frame counts until it was handled, and takes the time that it takes', async () => {
  const { clock, held, ended } = build()
  const track = held.track({ peer: 'peer', address: '192.0.2.1', abort: () => ended.push('peer') })
  track(4 * MIB)
  track(5 * MIB, true)
  await clock.advance(10 * 60_000)
  expect([held.bytes, ended]).toEqual([5 * MIB, []])
  track(0)
  expect(held.bytes).toBe(0)
})

/** What is refused is refused for holding too much. */
function tryTo(hold: () => void): void {
  try {
    hold()
  } catch (error) {
    if (!(error instanceof TooMuchHeldError)) throw error
  }
}

test('strangers may have a bound of their own, less than that of a longest frame', () => {
  const isMember = (peer: string) => peer === 'member'
  const held = new HeldBytes({
    isMember,
    maxFrameBytes: 20 * MIB,
    maxStrangersBytes: MIB,
    clock: createManualClock(),
  })
  const ended: string[] = []
  const hold = (peer: string) => held.track({ peer, address: peer, abort: () => ended.push(peer) })
  hold('member')(10 * MIB)
  hold('first')(600 * 1024)
  hold('second')(300 * 1024)
  tryTo(() => hold('third')(400 * 1024))
  expect(ended).toEqual(['first'])
  expect(held.bytes).toBe(10 * MIB + 700 * 1024)
})
