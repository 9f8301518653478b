import { parsePeerId } from '@mesh/core'
import { describe, expect, it } from 'vitest'
import { deriveIpv6, deriveIpv6Range } from './derive-ipv6.ts'

// As in docs/PROTOCOLS.md; made with Python's hashlib.
const secret = {
  key: '1234567890abcdefghijklmnopqrstuvwxyzABCDEFG',
  room: 'QRSTUVWXYZ1234567890abcdefghijklmnopqrstuvw',
}

describe('derived IPv6', () => {
  it('has the prefix of the network', () => {
    expect(deriveIpv6Range(secret)).toBe('fd28:9fe3:9406::/64')
    expect(deriveIpv6Range({ key: 'key', room: 'room' })).toBe('fd56:299c:5bd::/64')
  })

  it.each([
    ['12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB', 'fd28:9fe3:9406:0:b104:9d6b:17b1:dac7'],
    ['12D3KooWCd3eX8r5ihRvzK7P1yPq5aakaBJhG5GNj18YTztPhoCa', 'fd28:9fe3:9406:0:8bc2:a5b0:9e7e:f3d2'],
  ])('of %s is %s', (peer, address) => {
    const range = deriveIpv6Range(secret)
    expect(deriveIpv6(range, parsePeerId(peer))).toEqual({ address, range, prefixLength: 64 })
  })
})
