import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { MAX_PENDING_INBOUND, MAX_PENDING_PER_ADDRESS } from '../limits.ts'
import type { ReadTurns } from '../upstream/read-turns.ts'
import { PendingConnections, pendingSockets } from './pending-connections.ts'

class FakeSocket extends EventEmitter {
  readonly remotePort = 1
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

function createPending() {
  const pending = new PendingConnections()
  const turns = { watch: () => {} } as unknown as ReadTurns
  const sockets = pendingSockets(pending, turns)
  const open = (address?: string) => {
    const socket = new FakeSocket(address)
    sockets.accepted(socket as unknown as Socket)
    return socket
  }
  return { pending, open, upgrade: (socket: FakeSocket) => sockets.upgraded(socket as unknown as Socket) }
}

const isOpen = ({ destroyed }: FakeSocket) => !destroyed

test.each(['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1', 'fe80::1%eth0'])(
  'of connections from %s that become no WebSocket the oldest end',
  (address) => {
    const { pending, open } = createPending()
    const all = Array.from({ length: 2 * MAX_PENDING_PER_ADDRESS }, () => open(address))
    expect(all.map(isOpen)).toEqual(all.map((_, at) => at >= MAX_PENDING_PER_ADDRESS))
    expect(pending.count).toBe(MAX_PENDING_PER_ADDRESS)
  },
)

test('of all addresses together there are so many', () => {
  const { open } = createPending()
  const all = Array.from({ length: 3 * MAX_PENDING_INBOUND }, (_, at) => open(`192.0.2.${at % 100}`))
  expect(all.filter(isOpen)).toHaveLength(MAX_PENDING_INBOUND)
})

test('what has become a WebSocket, has closed, or is gone when it comes makes room for others', () => {
  const { pending, open, upgrade } = createPending()
  const first = open('192.0.2.1')
  upgrade(first)
  open('192.0.2.1').destroy()
  expect(open().destroyed).toBe(true)
  expect(pending.count).toBe(0)
  for (let at = 0; at < 2 * MAX_PENDING_PER_ADDRESS; at++) open('192.0.2.1')
  expect(first.destroyed).toBe(false)
})
