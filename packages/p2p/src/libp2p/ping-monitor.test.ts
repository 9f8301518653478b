import type { Connection } from '@libp2p/interface'
import { silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { PING_INTERVAL_MS, PING_TIMEOUT_MS, RELAY_PING_INTERVAL_MS, RELAY_PING_TIMEOUT_MS } from './limits.ts'
import { startPingMonitor } from './ping-monitor.ts'

/** A connection on which no stream is ever opened. */
function createSilent(peer: string) {
  const pingedAt: number[] = []
  const connection = (now: () => number) =>
    ({
      id: peer,
      status: 'open',
      remotePeer: { toString: () => peer },
      newStream: (_protocols: readonly string[], { signal }: { readonly signal: AbortSignal }) => {
        pingedAt.push(now())
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        )
      },
    }) as unknown as Connection
  return { connection, pingedAt }
}

test('a connection that does not answer is asked whether it carries; one to a relay sooner, and pinged more often', async () => {
  const clock = createManualClock()
  const events = new EventTarget()
  const asked: [string, number][] = []
  const stop = startPingMonitor(
    {
      host: events as unknown as Parameters<typeof startPingMonitor>[0]['host'],
      onRtt: () => {},
      isRelay: (peer) => peer === 'relay',
    },
    {
      clock,
      random: { ...createSeededRandom(1), float: () => 0.5 },
      logger: silentLogger,
      checks: {
        check: async ({ remotePeer }) => void asked.push([remotePeer.toString(), clock.monotonic()]),
      },
    },
  )
  const [relay, other] = [createSilent('relay'), createSilent('other')]
  for (const { connection } of [relay, other]) {
    const detail = connection(() => clock.monotonic())
    events.dispatchEvent(new CustomEvent('connection:open', { detail }))
  }
  const began = clock.monotonic()
  const since = (times: readonly number[]) => times.map((at) => at - began)
  await clock.advance(2 * PING_INTERVAL_MS)
  stop()
  const relayEvery = RELAY_PING_TIMEOUT_MS + RELAY_PING_INTERVAL_MS
  expect(since(relay.pingedAt)).toEqual([
    1_000,
    1_000 + relayEvery,
    1_000 + 2 * relayEvery,
    1_000 + 3 * relayEvery,
    1_000 + 4 * relayEvery,
  ])
  expect(since(other.pingedAt)).toEqual([1_000, 1_000 + PING_TIMEOUT_MS + PING_INTERVAL_MS])
  expect(asked.slice(0, 2).map(([peer, at]) => [peer, at - began])).toEqual([
    ['relay', 1_000 + RELAY_PING_TIMEOUT_MS],
    ['other', 1_000 + PING_TIMEOUT_MS],
  ])
})
