import type { Connection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { peerIdFromPublicKey } from '@mesh/core'
import { expect, test } from 'vitest'
import { DEAD_AFTER_MS, DEAD_STREAM_AFTER_MS, MAX_ASKED_RELAYS, REPLACED_AFTER_MS } from './limits.ts'
import { STOOD_BEFORE_MS } from '../limits.ts'
import { noteDoubt } from './liveness.ts'
import { askRelays, endDead, endReplaced } from './end-dead.ts'

const PEER = peerIdFromPublicKey(new Uint8Array(32).fill(1))

function connection(address: string, peer: string = PEER, openedAt = 0) {
  const events = new EventTarget()
  const open = {
    id: address,
    timeline: { open: openedAt },
    addEventListener: events.addEventListener.bind(events),
    remotePeer: { toString: () => peer },
    remoteAddr: multiaddr(address),
    status: 'open',
    direct: !address.includes('circuit'),
  }
  return { open: open as unknown as Connection, close: () => events.dispatchEvent(new Event('close')) }
}

/** Notes which connections are asked, and how soon they would end. */
function createChecks() {
  const asked: [Connection, number | undefined, AbortSignal | undefined][] = []
  const listeners = new Set<(connection: Connection) => void>()
  return {
    asked,
    doubt(doubtful: Connection) {
      noteDoubt(doubtful)
      for (const listener of listeners) listener(doubtful)
    },
    checks: {
      async check(open: Connection, early?: { readonly endAfterMs: number; readonly signal: AbortSignal }) {
        asked.push([open, early?.endAfterMs, early?.signal])
      },
      onDoubt(listener: (connection: Connection) => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
  }
}

test("a peer's connections are asked, those over UDP end sooner; relays are asked, too", async () => {
  const { checks, asked } = createChecks()
  const webrtc = connection('/ip4/5.5.5.5/udp/4000/webrtc').open
  const tcp = connection('/ip4/5.5.5.5/tcp/4001').open
  const relay = connection('/ip4/6.6.6.6/tcp/4001', 'relay').open
  const other = connection('/ip4/7.7.7.7/tcp/4001', 'other').open
  const host = { getConnections: () => [webrtc, tcp, relay, other] }
  const { signal } = new AbortController()
  await endDead(host, PEER, { checks, signal, isRelay: (peer) => peer === 'relay' })
  expect(asked).toEqual([
    [relay, undefined, undefined],
    [webrtc, DEAD_AFTER_MS, signal],
    [tcp, DEAD_STREAM_AFTER_MS, signal],
  ])
})

test('where a peer comes by a new connection, those that stood before are asked while it stands, and none dialled at the same time', () => {
  const { checks, asked } = createChecks()
  const openedAt = 60_000
  const before = connection('/ip4/5.5.5.5/tcp/4001').open
  const sibling = connection('/ip4/5.5.5.5/tcp/4003', PEER, openedAt - STOOD_BEFORE_MS + 1).open
  const opened = connection('/ip4/6.6.6.6/tcp/4001', PEER, openedAt)
  const events = new EventTarget()
  const host = {
    getConnections: () => [before, sibling, opened.open],
    addEventListener: events.addEventListener.bind(events),
    removeEventListener: events.removeEventListener.bind(events),
  }
  const open = () => events.dispatchEvent(new CustomEvent('connection:open', { detail: opened.open }))
  const stop = endReplaced(host as unknown as Parameters<typeof endReplaced>[0], checks)
  open()
  expect(asked.map(([each, ms]) => [each, ms])).toEqual([[before, REPLACED_AFTER_MS]])
  expect(asked[0]?.[2]?.aborted).toBe(false)
  opened.close()
  expect(asked[0]?.[2]?.aborted).toBe(true)
  stop()
  open()
  expect(asked).toHaveLength(1)
})

test('a connection in doubt has some relays asked, and that of a relay everybody who is not in doubt', () => {
  const { checks, asked, doubt } = createChecks()
  const relays = Array.from(
    { length: MAX_ASKED_RELAYS + 2 },
    (_, n) => connection(`/ip4/6.6.6.${n}/tcp/1`, 'relay').open,
  )
  const peer = connection('/ip4/5.5.5.5/tcp/4001').open
  const circuit = connection(`/ip4/6.6.6.1/tcp/1/p2p/${PEER}/p2p-circuit`, 'relay').open
  const all = [peer, circuit, ...relays]
  const stop = askRelays({ getConnections: () => all }, { checks, isRelay: (id) => id === 'relay' })
  doubt(peer)
  expect(asked.map(([each]) => each)).toEqual(relays.slice(0, MAX_ASKED_RELAYS))
  asked.length = 0
  doubt(relays[0] as Connection)
  expect(asked.map(([each]) => each)).toEqual([circuit, ...relays.slice(1)])
  stop()
})
