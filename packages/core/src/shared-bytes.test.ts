import { expect, test } from 'vitest'
import { SharedBytes } from './shared-bytes.ts'

function build(maxBytes: number) {
  const timers: (() => void)[] = []
  const shared = new SharedBytes(maxBytes, {
    after(_delayMs, run) {
      timers.push(run)
      return () => {}
    },
  })
  const look = () => timers.pop()?.()
  const ended: string[] = []
  const open = (peer: string, address: string) => {
    let bytes = 0
    const waiting = {
      peer,
      address,
      count: () => bytes,
      end: () => {
        bytes = 0
        ended.push(peer)
      },
    }
    return {
      wait(more: number) {
        bytes += more
        shared.count(waiting)
      },
      take: () => (bytes = 0),
    }
  }
  return { look, timers, shared, ended, open }
}

test('of the address with the most the peer with the most loses its largest', () => {
  const { shared, ended, open } = build(1_000)
  open('honest', '192.0.2.1').wait(300)
  for (let at = 0; at < 50; at++) open(`sybil${at}`, '192.0.2.66').wait(100)
  expect(ended).not.toContain('honest')
  expect(ended.length).toBeGreaterThan(40)
  expect(shared.bytes).toBeLessThanOrEqual(1_000)
})

test('what was taken counts no more, and ends nobody', () => {
  const { shared, ended, open } = build(1_000)
  const reader = open('peer', '192.0.2.1')
  for (let round = 0; round < 100; round++) {
    reader.wait(900)
    reader.take()
  }
  expect(ended).toEqual([])
  expect(shared.bytes).toBeLessThanOrEqual(1_000)
})

test('those of whom nothing waits any more are let go', () => {
  const { look, timers, shared, open } = build(1_000)
  const reader = open('peer', '192.0.2.1')
  reader.wait(500)
  look()
  expect(shared.bytes).toBe(500)
  reader.take()
  look()
  expect(shared.bytes).toBe(0)
  expect(timers).toEqual([])
})
