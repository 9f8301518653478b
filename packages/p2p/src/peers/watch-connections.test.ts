import type { Connection } from '@libp2p/interface'
import { afterEach, expect, test } from 'vitest'
import { noteDoubt, noteSure } from '../libp2p/liveness.ts'
import { watchConnections } from './watch-connections.ts'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** A host whose connections to one peer are as `stand` leaves them, and what was told of the peer. */
function watched() {
  const events = new EventTarget()
  const listeners = new Set<(connection: Connection) => void>()
  const told: string[] = []
  let open: readonly Connection[] = []
  const fire = (name: string, detail: Connection) => events.dispatchEvent(new CustomEvent(name, { detail }))
  const host = {
    getConnections: () => [...open],
    addEventListener: events.addEventListener.bind(events),
    removeEventListener: events.removeEventListener.bind(events),
  } as unknown as Parameters<typeof watchConnections>[0]['host']
  const checks = {
    onDoubt(listener: (connection: Connection) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const emit: Parameters<typeof watchConnections>[0]['emit'] = (event) =>
    told.push(event.type === 'peer.connected' ? event.path : event.type)
  ends.push(watchConnections({ host, checks, emit }), () => expect(listeners.size).toBe(0))
  const turn = (connection: Connection, note: (connection: Connection) => void) => {
    note(connection)
    for (const listener of listeners) listener(connection)
  }
  return {
    told,
    open(direct: boolean): Connection {
      const made = { direct, status: 'open', remotePeer: { toString: () => 'peer' } }
      const connection = made as unknown as Connection
      open = [...open, connection]
      fire('connection:open', connection)
      return connection
    },
    close(connection: Connection): void {
      open = open.filter((each) => each !== connection)
      fire('connection:close', connection)
    },
    doubt: (connection: Connection) => turn(connection, noteDoubt),
    trust: (connection: Connection) => turn(connection, noteSure),
  }
}

test('a peer that is reached over a relay once its direct connection is gone is told so', () => {
  const { told, open, close } = watched()
  const relayed = open(false)
  const direct = open(true)
  open(true)
  expect(told).toEqual(['relayed', 'direct'])
  close(direct)
  expect(told).toEqual(['relayed', 'direct'])
  const other = watched()
  other.open(false)
  other.close(other.open(true))
  expect(other.told).toEqual(['relayed', 'direct', 'relayed'])
  close(relayed)
  expect(told).toEqual(['relayed', 'direct'])
})

test('a peer whose connections are all in doubt is away until one is sure again, or another one comes', () => {
  const { told, open, close, doubt, trust } = watched()
  const direct = open(true)
  doubt(direct)
  expect(told).toEqual(['direct', 'peer.disconnected'])
  trust(direct)
  expect(told.slice(2)).toEqual(['direct'])
  doubt(direct)
  open(false)
  expect(told.slice(3)).toEqual(['peer.disconnected', 'relayed'])
  // it ends at last, and nothing changes
  close(direct)
  expect(told).toHaveLength(5)
})
