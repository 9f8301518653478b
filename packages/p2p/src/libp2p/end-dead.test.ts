import type { Connection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { type Clock, peerIdFromPublicKey, silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { DEAD_AFTER_MS, DEAD_STREAM_AFTER_MS, REPLACED_AFTER_MS, STOOD_BEFORE_MS } from '../limits.ts'
import { endDead, endReplaced } from './end-dead.ts'

const PEER = peerIdFromPublicKey(new Uint8Array(32).fill(1))

/** A connection on which no stream is ever opened, or on which the peer refuses one. */
function connection(address: string, answer: 'never' | 'refusal', openedAt = 0) {
  let aborted = false
  const events = new EventTarget()
  const newStream = (_protocols: readonly string[], { signal }: { readonly signal: AbortSignal }) =>
    new Promise((_resolve, reject) => {
      if (answer === 'refusal') return reject(new Error('unsupported'))
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  const open = {
    id: address,
    timeline: { open: openedAt },
    addEventListener: events.addEventListener.bind(events),
    removeEventListener: events.removeEventListener.bind(events),
    remotePeer: { toString: () => PEER },
    remoteAddr: multiaddr(address),
    status: 'open',
    direct: true,
    newStream,
    abort: () => (aborted = true),
  }
  return {
    open: open as unknown as Connection,
    wasAborted: () => aborted,
    close: () => events.dispatchEvent(new Event('close')),
  }
}

async function judged(isSureAgain: boolean, afterMs = DEAD_AFTER_MS) {
  const clock = createManualClock()
  const dead = connection('/ip4/5.5.5.5/udp/4000/webrtc', 'never')
  const alive = connection('/ip4/5.5.5.5/udp/4001/quic-v1', 'refusal')
  const tcp = connection('/ip4/5.5.5.5/tcp/4001', 'never')
  const doubt = new AbortController()
  const host = { getConnections: () => [dead, alive, tcp].map(({ open }) => open) }
  const options = { clock, random: createSeededRandom(1), logger: silentLogger, signal: doubt.signal }
  const ending = endDead(host, PEER, options)
  await clock.advance(DEAD_AFTER_MS / 2)
  if (isSureAgain) doubt.abort()
  await clock.advance(afterMs)
  const outcome = [dead, alive, tcp].map(({ wasAborted }) => wasAborted())
  await clock.advance(DEAD_STREAM_AFTER_MS)
  await ending
  return outcome
}

test('of the connections over UDP those that do not answer end first, and no others', async () => {
  expect(await judged(false)).toEqual([true, false, false])
})

test('those over TCP end later', async () => {
  expect(await judged(false, DEAD_STREAM_AFTER_MS)).toEqual([true, false, true])
})

test('none ends once there is no doubt any more', async () => {
  expect(await judged(true, DEAD_STREAM_AFTER_MS)).toEqual([false, false, false])
})

test('the time in which this process was held up does not count', async () => {
  const clock = createManualClock()
  let late = 3
  const busy: Clock = { ...clock, after: (ms, run) => clock.after(ms * late, run) }
  const { open, wasAborted } = connection('/ip4/5.5.5.5/udp/4000/webrtc', 'never')
  const { signal } = new AbortController()
  const options = { clock: busy, random: createSeededRandom(1), logger: silentLogger, signal }
  const ending = endDead({ getConnections: () => [open] }, PEER, options)
  await clock.advance(10 * DEAD_AFTER_MS)
  expect(wasAborted()).toBe(false)
  late = 1
  await clock.advance(2 * DEAD_AFTER_MS)
  await ending
  expect(wasAborted()).toBe(true)
})

async function replaced({ closes = false, afterMs = 60_000 }) {
  const clock = createManualClock()
  const dead = connection('/ip4/5.5.5.5/tcp/4001', 'never')
  const alive = connection('/ip4/5.5.5.5/tcp/4002', 'refusal')
  const sibling = connection('/ip4/5.5.5.5/tcp/4003', 'never', afterMs - STOOD_BEFORE_MS + 1)
  const opened = connection('/ip4/6.6.6.6/tcp/4001', 'never', afterMs)
  const connections = [dead, alive, sibling, opened]
  const events = new EventTarget()
  const host = {
    getConnections: () => connections.map(({ open }) => open),
    addEventListener: events.addEventListener.bind(events),
    removeEventListener: events.removeEventListener.bind(events),
  }
  const components = { clock, random: createSeededRandom(1), logger: silentLogger }
  const stop = endReplaced(host as unknown as Parameters<typeof endReplaced>[0], components)
  events.dispatchEvent(new CustomEvent('connection:open', { detail: opened.open }))
  if (closes) opened.close()
  await clock.advance(REPLACED_AFTER_MS)
  const outcome = connections.map(({ wasAborted }) => wasAborted())
  stop()
  await clock.advance(DEAD_STREAM_AFTER_MS)
  expect(connections.map(({ wasAborted }) => wasAborted())).toEqual(outcome)
  return outcome
}

test('where a peer comes by a new connection, one that stood before and does not answer ends, and none dialled at the same time', async () => {
  expect(await replaced({})).toEqual([true, false, false, false])
})

test('none ends for a connection that is gone again, or that came as soon', async () => {
  expect(await replaced({ closes: true })).toEqual([false, false, false, false])
  expect(await replaced({ afterMs: STOOD_BEFORE_MS - 1 })).toEqual([false, false, false, false])
})
