import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { ACCEPTING_SOCKETS } from './limits.ts'
import { remoteAddressOf } from './socket-address.ts'
import { Sockets } from './sockets.ts'

class FakeSocket extends EventEmitter {
  destroyed = false
  readonly remoteAddress: string | undefined

  constructor(remoteAddress?: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  destroy() {
    this.destroyed = true
    this.emit('close')
  }
}

function createAccepting() {
  const sockets = new Sockets({ clock: createManualClock(), logger: silentLogger })
  return (address?: string) => {
    const socket = new FakeSocket(address)
    return { socket, place: sockets.accepted(socket as unknown as Socket) }
  }
}

test('of the sockets of one address that say nothing the oldest end', () => {
  const accept = createAccepting()
  const most = ACCEPTING_SOCKETS.perAddress
  const all = Array.from({ length: 2 * most }, () => accept('192.0.2.1'))
  expect(all.map(({ socket }) => !socket.destroyed)).toEqual(all.map((_, at) => at >= most))
})

test('what has become a connection, has closed, or is gone when it comes makes room for others', () => {
  const accept = createAccepting()
  const first = accept('192.0.2.1')
  first.place?.release()
  accept('192.0.2.1').socket.destroy()
  expect(accept().socket.destroyed).toBe(true)
  for (let at = 0; at < 2 * ACCEPTING_SOCKETS.perAddress; at++) accept('192.0.2.1')
  expect(first.socket.destroyed).toBe(false)
})

test.each([
  ['192.0.2.1', '/ip4/192.0.2.1/tcp/7'],
  ['::ffff:192.0.2.1', '/ip4/192.0.2.1/tcp/7'],
  ['2001:db8::1', '/ip6/2001:db8::1/tcp/7'],
  ['fe80::1%eth0', '/ip6/fe80::1/tcp/7'],
])('the address of a socket from %s is %s', (remoteAddress, address) => {
  expect(String(remoteAddressOf({ remoteAddress, remotePort: 7 }))).toBe(address)
})
