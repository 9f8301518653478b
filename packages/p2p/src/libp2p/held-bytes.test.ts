import { expect, test } from 'vitest'
import { HeldBytes } from './held-bytes.ts'
import { MAX_HELD_BYTES, MAX_HELD_BYTES_PER_PEER, MAX_STRANGERS_HELD_BYTES } from './limits.ts'

const MIB = 1024 * 1024

function build(isMember: (peer: string) => boolean = () => true, maxFrameBytes = 20 * MIB) {
  const held = new HeldBytes({ isMember, maxFrameBytes })
  const ended: string[] = []
  const hold = (peer: string, address: string) => held.track({ peer, address, abort: () => ended.push(peer) })
  return { held, ended, hold }
}

test("one address with many keys ends its own largest frame, and nobody else's", () => {
  const { held, ended, hold } = build()
  hold('honest', '192.0.2.1')(10 * MIB)
  for (let at = 0; at < 15; at++) {
    hold(`sybil${at}`, '192.0.2.66')((12 + at / 2) * MIB)
    expect(held.bytes).toBeLessThanOrEqual(MAX_HELD_BYTES)
  }
  expect(ended).not.toContain('honest')
})

test('one peer holds no more than a frame of the greatest size, on however many streams', () => {
  const { held, ended, hold } = build()
  hold('peer', '192.0.2.1')(15 * MIB)
  hold('peer', '192.0.2.1')(16 * MIB)
  expect(ended).toEqual(['peer'])
  expect(held.bytes).toBeLessThanOrEqual(MAX_HELD_BYTES_PER_PEER)
})

test('strangers hold a part of it, and members the rest', () => {
  const { held, hold } = build((peer) => peer === 'member')
  for (let at = 0; at < 30; at++) {
    hold(`stranger${at}`, `192.0.2.${at}`)(MIB)
  }
  expect(held.bytes).toBeLessThanOrEqual(MAX_STRANGERS_HELD_BYTES)
  hold('member', '198.51.100.1')(15 * MIB)
  expect(held.bytes).toBeGreaterThan(MAX_STRANGERS_HELD_BYTES)
})

test("each bound has room for one of the network's longest frames, and no more than a little", () => {
  const { held, ended, hold } = build((peer) => peer === 'member', 256 * MIB)
  hold('member', '198.51.100.1')(256 * MIB)
  for (let at = 0; at < 30; at++) {
    hold(`stranger${at}`, `192.0.2.${at}`)(5 * MIB)
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

test('a stream that was ended counts for nothing', () => {
  const { held, ended, hold } = build()
  const track = hold('peer', '192.0.2.1')
  track(64 * MIB)
  expect([held.bytes, ended]).toEqual([0, ['peer']])
  track(0)
  expect(held.bytes).toBe(0)
})
