import type { PeerId } from '@mesh/core'
import { describe, expect, it } from 'vitest'
import { type WaitingBlock, WaitingBlocks } from './waiting-blocks.ts'

const MB = 1024 * 1024
let authors = 0

function block(
  charged: string,
  init: Partial<WaitingBlock> & { readonly bytes?: number } = {},
): WaitingBlock {
  const { bytes = 1000, inflatedBytes = 1000, author = `author${authors++}` as PeerId } = init
  return { author, charged, inflatedBytes, plaintext: new Uint8Array(bytes) }
}

describe('blocks that wait', () => {
  it('are bounded in all, and the peer that holds the most gives way to the others', () => {
    const waiting = new WaitingBlocks({ maxBytes: 8 * MB, parallel: 2 })
    for (let at = 0; at < 100; at++) waiting.add(block('flooder', { bytes: MB }))
    expect(waiting.bytes).toBeLessThanOrEqual(4 * MB)
    expect(waiting.add(block('honest', { bytes: MB }))).toBe(true)
    expect(waiting.add(block('flooder', { bytes: MB }))).toBe(false)
    expect(waiting.bytes).toBeLessThanOrEqual(4 * MB)
  })

  it('take turns by the peer that is charged, however many authors it names', () => {
    const waiting = new WaitingBlocks({ maxBytes: 8 * MB, parallel: 1 })
    for (let at = 0; at < 50; at++) waiting.add(block('flooder'))
    waiting.add(block('honest'))
    const order: string[] = []
    for (let next = waiting.next(); next !== undefined; next = waiting.next()) {
      order.push(next.charged)
      waiting.done(next)
    }
    expect(order.indexOf('honest')).toBeLessThan(2)
    expect(order).toHaveLength(51)
    expect(waiting.bytes).toBe(0)
  })

  it('are inflated one large one at a time, with a place for small ones beside it', () => {
    const waiting = new WaitingBlocks({ maxBytes: 64 * MB, parallel: 2 })
    waiting.add(block('a', { inflatedBytes: 60 * MB }))
    waiting.add(block('b', { inflatedBytes: 60 * MB }))
    const large = waiting.next()
    waiting.add(block('c'))
    expect(large?.inflatedBytes).toBe(60 * MB)
    expect(waiting.next()?.charged).toBe('c')
    expect(waiting.next()).toBeUndefined()
  })

  it('of one author follow each other', () => {
    const waiting = new WaitingBlocks({ maxBytes: 8 * MB, parallel: 2 })
    const author = 'one' as PeerId
    waiting.add(block('a', { author }))
    waiting.add(block('b', { author }))
    const first = waiting.next()
    expect(waiting.next()).toBeUndefined()
    if (first !== undefined) waiting.done(first)
    expect(waiting.next()?.author).toBe(author)
  })
})
