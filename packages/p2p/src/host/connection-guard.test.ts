import type { Connection } from '@libp2p/interface'
import { silentLogger } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { createManualClock } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { ConnectionGuard } from './connection-guard.ts'

/** A guard of a host with room for few strangers, and connections that this node dialled. */
function createGuard() {
  const clock = createManualClock()
  const open = new Set<Connection>()
  const listeners: ((event: CustomEvent<Connection>) => void)[] = []
  const guard = new ConnectionGuard(
    { isConfigured: () => false, maxConnections: 12, onClosed: () => {} },
    { clock, logger: silentLogger },
  )
  const looks = { count: 0 }
  const host = {
    getConnections: () => {
      looks.count++
      return [...open]
    },
    addEventListener: (_type: string, listener: never) => void listeners.push(listener),
    removeEventListener: () => {},
  }
  const isMember = () => false
  guard.start({
    host: host as never,
    membership: { isMember, onMember: () => () => {} },
    unread: new Scope({ all: 0, evict: 'largest' }),
  })
  /** A connection to a stranger comes about. */
  const connect = (peer: string) => {
    const connection = {
      id: peer,
      direction: 'outbound',
      status: 'open',
      remotePeer: peer,
      remoteAddr: multiaddr('/ip4/192.0.2.1/tcp/1'),
      muxer: { streams: [], addEventListener() {}, createStream() {} },
      abort: () => open.delete(connection),
    } as unknown as Connection
    open.add(connection)
    for (const listener of listeners) listener(new CustomEvent('connection:open', { detail: connection }))
  }
  return { guard, open, looks, connect }
}

/** Resolves when what was put off to the end of this turn of the event loop is done. */
const turnOver = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** More than strangers may have from one address. */
const PEERS = Array.from({ length: 60 }, (_, at) => `peer ${at}`)

test('what this node dialled because its peers asked for it counts as theirs', async () => {
  const { guard, open, connect } = createGuard()
  for (const peer of PEERS) await guard.dialFor(peer, async () => connect(peer))
  await turnOver()
  expect(open.size).toBeLessThan(guard.bounds.maxUnproven)
})

test('all connections are looked at once, however many come in a turn of the event loop', async () => {
  const { looks, connect } = createGuard()
  for (const peer of PEERS) connect(peer)
  await turnOver()
  expect(looks.count).toBe(1)
})

test('what this node dialled by itself stays', async () => {
  const { open, connect } = createGuard()
  for (const peer of PEERS) connect(peer)
  await turnOver()
  expect(open.size).toBe(PEERS.length)
})
