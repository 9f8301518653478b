import type { Connection, Stream, StreamHandler } from '@libp2p/interface'
import type { Registrar } from '@libp2p/interface-internal'
import { multiaddr } from '@multiformats/multiaddr'
import { createManualClock, type ManualClock } from '@mesh/testkit'
import { beforeEach, describe, expect, test } from 'vitest'
import { IDENTIFIES, PING_IDLE_MS } from './limits.ts'
import { PINGS } from '../limits.ts'
import { answerPings } from './answer-pings.ts'
import { createAddressRate } from '../addresses/address-rate.ts'

let clock: ManualClock
let handle: StreamHandler
const connection = { id: 'here' } as Connection

/** A stream that a test speaks into. */
class Pinged extends EventTarget {
  readonly answers: Uint8Array[] = []
  aborted: Error | undefined

  send(bytes: Uint8Array): boolean {
    this.answers.push(Uint8Array.from(bytes))
    return true
  }

  abort(error: Error): void {
    this.aborted = error
  }

  say(bytes: Uint8Array): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data: bytes }))
  }
}

function open(on = connection): Pinged {
  const stream = new Pinged()
  void handle(stream as unknown as Stream, on)
  return stream
}

beforeEach(async () => {
  clock = createManualClock()
  const registrar = { handle: async (_protocol: string, given: StreamHandler) => void (handle = given) }
  await answerPings(registrar as unknown as Pick<Registrar, 'handle'>, clock)
})

describe('pings', () => {
  test('are answered with the same bytes, in whatever pieces they come', () => {
    const stream = open()
    const ping = crypto.getRandomValues(new Uint8Array(32))
    stream.say(ping.subarray(0, 5))
    expect(stream.answers).toEqual([])
    stream.say(ping.subarray(5))
    expect(stream.answers).toEqual([ping])
  })

  test('that come faster than a few a second end their stream, and others of the connection', async () => {
    const stream = open()
    stream.say(new Uint8Array(1 << 20))
    expect(stream.answers).toHaveLength(PINGS.burst)
    expect(stream.aborted?.message).toBe('too many pings')
    const second = open()
    second.say(new Uint8Array(32))
    expect(second.answers).toEqual([])
    const elsewhere = open({ id: 'elsewhere' } as Connection)
    elsewhere.say(new Uint8Array(32))
    expect(elsewhere.answers).toHaveLength(1)
    await clock.advance(1_000)
    const later = open()
    later.say(new Uint8Array(32))
    expect(later.answers).toHaveLength(1)
  })

  test('that do not come end their stream', async () => {
    const stream = open()
    stream.say(new Uint8Array(31))
    await clock.advance(PING_IDLE_MS)
    expect(stream.aborted?.message).toBe('no further ping')
  })
})

test('who identifies itself without pause is bounded by its address, and all addresses together', async () => {
  const isAllowed = createAddressRate(IDENTIFIES, clock)
  const from = (host: string) => isAllowed({ remoteAddr: multiaddr(`/ip4/${host}/tcp/4001`) })
  const count = (host: string, times: number) =>
    Array.from({ length: times }, () => from(host)).filter(Boolean).length
  expect(count('192.0.2.1', 1_000)).toBe(IDENTIFIES.perAddress.burst)
  const others = Array.from({ length: 50 }, (_, n) => count(`192.0.2.${n + 2}`, 100))
  const all = others.reduce((sum, each) => sum + each, IDENTIFIES.perAddress.burst)
  expect(all).toBe(IDENTIFIES.all.burst)
  await clock.advance(1_000)
  // what comes anew is for who had little
  expect(count('192.0.2.1', 100)).toBe(0)
  expect(count('198.51.100.1', 10)).toBe(10)
})
