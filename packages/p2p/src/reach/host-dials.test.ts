import { createManualClock } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import {
  FREE_HOST_FAILURES,
  HOST_FORGIVEN_MS,
  HOST_REST,
  MAX_DIALS_OF_HOST,
  MAX_DIALS_OF_UNKNOWN_HOST,
} from './limits.ts'
import { HostDials, HostRestsError, UnneededDialError } from './host-dials.ts'

interface Under {
  readonly port: number
  connect(): Promise<void>
  fail(): Promise<void>
}

/** Dials one host at many ports; each is under way until the test ends it. */
function build(host = '/ip4/192.0.2.1') {
  const clock = createManualClock()
  const hosts = new HostDials(clock)
  const underWay: Under[] = []
  const refused: unknown[] = []
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  const dial = async (
    port: number,
    {
      at = host,
      kind = 'bounded',
      signal = new AbortController().signal,
    }: {
      readonly at?: string
      readonly kind?: 'bounded' | 'asked'
      readonly signal?: AbortSignal
    } = {},
  ) => {
    const address = multiaddr(`${at}/tcp/${port}`)
    const dialled = hosts.run(address, { signal, isAskedFor: kind === 'asked' }, async () => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      underWay.push({
        port,
        connect: () => (resolve(), settled()),
        fail: () => (reject(new Error('refused')), settled()),
      })
      await promise
    })
    dialled.catch((error: unknown) => refused.push(error))
    await settled()
  }
  const failNext = async () => await underWay.shift()?.fail()
  return { clock, dial, underWay, refused, failNext }
}

const rests = (errors: readonly unknown[]) => errors.filter((error) => error instanceof HostRestsError).length

test('a host at which none has succeeded is dialled a few times at once, and rests after failures, whoever named it', async () => {
  const { dial, underWay, refused, failNext } = build()
  for (let port = 1; port <= 3 * MAX_DIALS_OF_UNKNOWN_HOST; port++) await dial(port)
  expect(underWay).toHaveLength(MAX_DIALS_OF_UNKNOWN_HOST)
  let dials = 0
  for (; underWay.length > 0; dials++) await failNext()
  // one that ends lets the next one go on until the host rests
  expect(dials).toBeLessThan(FREE_HOST_FAILURES + MAX_DIALS_OF_UNKNOWN_HOST)
  await dial(100)
  expect(rests(refused)).toBe(3 * MAX_DIALS_OF_UNKNOWN_HOST - dials + 1)
  expect(underWay).toHaveLength(0)
})

test('it is tried by one dial after its rest, which doubles with each failure up to the longest', async () => {
  const { clock, dial, underWay, failNext } = build()
  const failOne = async () => {
    await dial(1)
    expect(underWay).toHaveLength(1)
    await failNext()
  }
  for (let times = 0; times < FREE_HOST_FAILURES; times++) await failOne()
  for (let restMs = HOST_REST.leastMs; restMs < HOST_REST.mostMs; restMs *= 2) {
    await clock.advance(restMs - 1)
    await dial(1)
    expect(underWay).toHaveLength(0)
    await clock.advance(1)
    await dial(1)
    await dial(2)
    expect(underWay.map(({ port }) => port)).toEqual([1])
    await failNext()
    expect(underWay).toHaveLength(0)
  }
  await clock.advance(HOST_REST.mostMs)
  await failOne()
  await clock.advance(HOST_FORGIVEN_MS + 1)
  for (let port = 1; port <= 20; port++) await dial(port)
  expect(underWay).toHaveLength(MAX_DIALS_OF_UNKNOWN_HOST)
})

test('behind the address of many peers all are dialled: one that succeeds takes the failures back, and has more at once', async () => {
  const { dial, underWay, refused } = build()
  for (let times = 1; times < FREE_HOST_FAILURES; times++) {
    await dial(times)
    await underWay.shift()?.fail()
  }
  refused.length = 0
  for (let port = 1; port <= 100; port++) await dial(port)
  expect(underWay).toHaveLength(MAX_DIALS_OF_UNKNOWN_HOST)
  await underWay.shift()?.connect()
  expect(underWay).toHaveLength(MAX_DIALS_OF_HOST)
  const dialled = new Set<number>([1])
  for (let next = underWay.shift(); next !== undefined; next = underWay.shift()) {
    dialled.add(next.port)
    await next.connect()
  }
  expect(dialled.size).toBe(100)
  expect(refused).toEqual([])
})

test('where a dial succeeded before, and where somebody asks for it, a host that rests is dialled', async () => {
  const { dial, underWay, failNext } = build()
  await dial(7)
  await underWay.shift()?.connect()
  for (let times = 0; times < FREE_HOST_FAILURES; times++) {
    await dial(1)
    await failNext()
  }
  await dial(1)
  expect(underWay).toHaveLength(0)
  await dial(7)
  await dial(1, { kind: 'asked' })
  expect(underWay.map(({ port }) => port)).toEqual([7, 1])
})

test('a dial that is not needed any more was not in vain', async () => {
  const { dial, underWay, failNext } = build()
  const ended = new AbortController()
  ended.abort(new UnneededDialError('the race is won'))
  for (let times = 0; times < 2 * FREE_HOST_FAILURES; times++) {
    await dial(1, { kind: 'asked', signal: ended.signal })
    await failNext()
  }
  await dial(1)
  expect(underWay).toHaveLength(1)
})

test('names of any host rest together, other hosts do not, and what has no host is not bounded', async () => {
  const { dial, underWay, failNext } = build()
  for (let times = 0; times < FREE_HOST_FAILURES; times++) {
    await dial(1, { at: `/dns4/name-${times}.example` })
    await failNext()
  }
  await dial(1, { at: '/dns4/another.example' })
  expect(underWay).toHaveLength(0)
  await dial(1, { at: '/ip4/192.0.2.2' })
  expect(underWay).toHaveLength(1)
})
