import { Scope } from '@mesh/core/limits'
import { expect, test } from 'vitest'
import { SLOW_GOSSIP_BYTES } from './limits.ts'
import { countSlow, type GossipSender } from './outbound-streams.ts'

const MIB = 2 ** 20

function createPeer(address: string, scope: Scope) {
  let left = 0
  let wasReset = false
  const events = new EventTarget()
  const sender = {
    rawStream: {
      addEventListener: events.addEventListener.bind(events),
      get writeBufferLength() {
        return left
      },
      abort() {
        left = 0
        wasReset = true
      },
    },
    pushPrefixed({ byteLength }: { readonly byteLength: number }) {
      left += byteLength
    },
  } as unknown as GossipSender
  countSlow(sender, { peer: address, address, scope })
  return {
    push: (byteLength: number) => sender.pushPrefixed({ byteLength } as never),
    readAll() {
      left = 0
      events.dispatchEvent(new Event('idle'))
    },
    wasReset: () => wasReset,
  }
}

function setUp(addresses: readonly string[]) {
  const scope = new Scope(SLOW_GOSSIP_BYTES)
  return { scope, peers: addresses.map((address) => createPeer(address, scope)) }
}

test('a frame for many peers costs nothing where they read it before the next one', () => {
  const { scope, peers } = setUp(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
  for (let round = 0; round < 3; round++) {
    for (const peer of peers) peer.push(20 * MIB)
    for (const peer of peers) peer.readAll()
  }
  expect(scope.total).toBe(0)
  expect(peers.some(({ wasReset }) => wasReset())).toBe(false)
})

test('the stream of the slowest peer is reset when too much waits', () => {
  const { scope, peers } = setUp(['a', 'b', 'c', 'd', 'e'])
  const [slow, ...others] = peers
  slow?.push(20 * MIB)
  for (const peer of others) peer.push(15 * MIB)
  for (const peer of peers) peer.push(1)
  expect(peers.map(({ wasReset }) => wasReset())).toEqual([true, false, false, false, false])
  expect(scope.total).toBe(60 * MIB)
})
