import type { Connection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { type Clock, silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { DOUBT_AFTER_MS, SILENT_AFTER_MS } from './limits.ts'
import { Muxer } from '../muxer/muxer.ts'
import { ConnectionChecks, SilentConnectionError } from './liveness-checks.ts'
import { connectionsTo } from './connections.ts'
import { isAsked, isInDoubt } from './liveness.ts'

const STEP_MS = 250

/** A connection on which no stream is opened before `answer` is called. */
function createSilent() {
  const muxer = Object.assign(Object.create(Muxer.prototype) as Muxer, { received: 0 })
  const receive = () => void muxer.received++
  let answer = () => {}
  let asks = 0
  const open = {
    muxer,
    remotePeer: { toString: () => 'peer' },
    remoteAddr: multiaddr('/ip4/5.5.5.5/tcp/4001'),
    status: 'open',
    direct: true,
    newStream: (_protocols: readonly string[], { signal }: { readonly signal: AbortSignal }) => {
      asks++
      return new Promise((_resolve, reject) => {
        answer = () => reject(new Error('unsupported'))
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    },
    abort() {
      open.status = 'aborted'
    },
  }
  return { connection: open as unknown as Connection, receive, answer: () => answer(), asks: () => asks }
}

function createChecks(clock: Clock) {
  const checks = new ConnectionChecks({ clock, random: createSeededRandom(1), logger: silentLogger })
  const told: boolean[] = []
  checks.onDoubt((connection) => told.push(isInDoubt(connection)))
  return { checks, told }
}

test('one that stays silent is in doubt, and sure again with its answer', async () => {
  const clock = createManualClock()
  const { checks, told } = createChecks(clock)
  const { connection, answer } = createSilent()
  const host = { getConnections: () => [connection] }
  const done = checks.check(connection)
  expect([isAsked(connection), isInDoubt(connection)]).toEqual([true, false])
  await clock.advance(DOUBT_AFTER_MS - 1)
  expect(isInDoubt(connection)).toBe(false)
  await clock.advance(1)
  expect(isInDoubt(connection)).toBe(true)
  expect(connectionsTo(host, 'peer')).toEqual([])
  answer()
  await done
  expect([isAsked(connection), isInDoubt(connection)]).toEqual([false, false])
  expect(connectionsTo(host, 'peer')).toEqual([connection])
  expect(told).toEqual([true, false])
  expect(connection.status).toBe('open')
})

test('whatever comes shows that it carries, but for what was under way when it was asked', async () => {
  const clock = createManualClock()
  const { checks } = createChecks(clock)
  const one = createSilent()
  const done = checks.check(one.connection)
  one.receive()
  await clock.advance(DOUBT_AFTER_MS)
  expect(isInDoubt(one.connection)).toBe(true)
  one.receive()
  await clock.advance(STEP_MS)
  await done
  expect([isAsked(one.connection), isInDoubt(one.connection)]).toEqual([false, false])
})

test('it ends after long silence, and sooner where there is a reason as long as there is', async () => {
  for (const [isStill, endsAfterMs] of [
    [true, 2_000],
    [false, SILENT_AFTER_MS],
  ] as const) {
    const clock = createManualClock()
    const { checks } = createChecks(clock)
    const { connection } = createSilent()
    const reason = new AbortController()
    const done = checks.check(connection, { endAfterMs: 2_000, signal: reason.signal })
    await clock.advance(1_000)
    if (!isStill) reason.abort()
    await clock.advance(endsAfterMs - 1_001)
    expect(connection.status).toBe('open')
    await clock.advance(1)
    await done
    expect(connection.status).toBe('aborted')
    expect(isInDoubt(connection)).toBe(false)
  }
})

test('the time in which this process was held up does not count', async () => {
  const clock = createManualClock()
  let late = 3
  const busy: Clock = { ...clock, after: (ms, run) => clock.after(ms * late, run) }
  const { checks } = createChecks(busy)
  const { connection } = createSilent()
  const done = checks.check(connection)
  await clock.advance(3 * SILENT_AFTER_MS)
  expect([isInDoubt(connection), connection.status]).toEqual([false, 'open'])
  late = 1
  await clock.advance(SILENT_AFTER_MS + 3 * STEP_MS)
  await done
  expect(connection.status).toBe('aborted')
})

test('it is asked once, however many want to know', async () => {
  const clock = createManualClock()
  const { checks } = createChecks(clock)
  const { connection, answer, asks } = createSilent()
  const all = [checks.check(connection), checks.check(connection), checks.check(connection)]
  expect(asks()).toBe(1)
  answer()
  await Promise.all(all)
})

test('what takes long on it has it asked, and is given up when it is in doubt', async () => {
  const clock = createManualClock()
  const { checks } = createChecks(clock)
  const { connection, asks } = createSilent()
  const { signal } = new AbortController()
  const task = (sure: AbortSignal) =>
    new Promise<never>((_resolve, reject) => sure.addEventListener('abort', () => reject(sure.reason)))
  const outcome = checks.whileSure([connection], { signal, task }).catch((error: unknown) => error)
  await clock.advance(DOUBT_AFTER_MS - 1)
  expect(asks()).toBe(0)
  await clock.advance(DOUBT_AFTER_MS + 1)
  expect(asks()).toBe(1)
  expect(await outcome).toBeInstanceOf(SilentConnectionError)
})
