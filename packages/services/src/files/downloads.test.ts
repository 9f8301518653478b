import { expect, test } from 'vitest'
import { Downloads } from './downloads.ts'
import { MAX_DOWNLOADS } from './limits.ts'
import type { ReceivedFile, ReceiveFileInit } from './receive-file.ts'

const PROVIDER = 'provider' as ReceivedFile['provider']

const PROGRESS = {
  path: 'direct',
  transport: 'tcp tls',
  fileCount: 3,
  bytes: 40,
  totalBytes: 90,
  rate: 5,
  leftMs: 10_000,
} as const

/** Fetches that the test ends; an abort ends them too. */
function createFetches() {
  const asked: (ReceiveFileInit & {
    end(result: ReceivedFile): void
    fail(error: Error): void
  })[] = []
  const fetch = (init: ReceiveFileInit) =>
    new Promise<ReceivedFile>((end, fail) => {
      asked.push({ ...init, end, fail })
      init.signal.addEventListener('abort', () => fail(init.signal.reason as Error))
    })
  return {
    asked,
    downloads: new Downloads({
      processes: { self: '7', isRunning: () => false },
      fetch,
      look: () => Promise.reject(new Error('not asked')),
    }),
  }
}

const statesOf = ({ downloads }: ReturnType<typeof createFetches>) =>
  downloads.list().map(({ name, destination, state }) => [name, destination, state.type])

test('a download runs to its end, which is remembered', async () => {
  const fetches = createFetches()
  await fetches.downloads.start('photos', '/inbox/')
  expect(statesOf(fetches)).toEqual([['photos', '/inbox/', 'waiting']])
  const [fetch] = fetches.asked
  expect(fetch).toMatchObject({ name: 'photos', destination: '/inbox/' })
  fetch?.onState?.({ type: 'connecting', provider: PROVIDER })
  expect(statesOf(fetches)).toEqual([['photos', '/inbox/', 'connecting']])
  fetch?.end({
    path: '/inbox/photos',
    provider: PROVIDER,
    isVerified: true,
    leftOut: { count: 0, names: [] },
    bytes: 9,
  })
  await fetches.downloads.stop()
  expect(fetches.downloads.list()[0]?.state).toMatchObject({
    type: 'received',
    path: '/inbox/photos',
    bytes: 9,
  })
})

test('anyone who asks for one is told of each state, and how it ended', async () => {
  const fetches = createFetches()
  const { downloads, asked } = fetches
  const told: string[] = []
  const { signal } = new AbortController()
  const first = downloads.receive({
    name: 'a',
    destination: '/x',
    signal,
    onState: ({ type }) => told.push(type),
  })
  asked[0]?.onState?.({ type: 'retrying', reason: 'it broke off', inMs: 500 })
  expect(statesOf(fetches)).toEqual([['a', '/x', 'retrying']])
  asked[0]?.onState?.({ type: 'receiving', provider: PROVIDER, ...PROGRESS })
  asked[0]?.fail(new Error('the disk is full'))
  await expect(first).rejects.toThrow('the disk is full')
  expect(told).toEqual(['retrying', 'receiving'])
  expect(statesOf(fetches)).toEqual([['a', '/x', 'failed']])
  // how far it was is worth knowing
  expect(downloads.list()[0]?.progress).toMatchObject(PROGRESS)
})

test('asked for again it is the same one, to another place another, and after an end a new one', async () => {
  const fetches = createFetches()
  const { downloads, asked } = fetches
  await downloads.start('a', '/x')
  await downloads.start('a', '/x')
  expect(asked).toHaveLength(1)
  await downloads.start('a', '/y')
  expect(asked[0]?.signal.aborted).toBe(true)
  expect(statesOf(fetches)).toEqual([['a', '/y', 'waiting']])
  asked[1]?.fail(new Error('the disk is full'))
  await downloads.stop()
  expect(downloads.list()[0]?.state).toMatchObject({ type: 'failed', error: { message: 'the disk is full' } })
  await downloads.start('a', '/y')
  expect(asked).toHaveLength(3)
  await downloads.remove('a')
  expect(asked[2]?.signal.aborted).toBe(true)
  expect(downloads.list()).toEqual([])
})

test('asked for to two places at once, one of them runs', async () => {
  const { downloads, asked } = createFetches()
  await downloads.start('a', '/w')
  await Promise.all([downloads.start('a', '/x'), downloads.start('a', '/y')])
  const running = asked.filter(({ signal }) => !signal.aborted)
  expect(running.map(({ destination }) => destination)).toEqual([downloads.list()[0]?.destination])
  await downloads.stop()
})

test('so many run at a time, and as many are remembered', async () => {
  const { downloads, asked } = createFetches()
  for (let at = 0; at < MAX_DOWNLOADS; at++) await downloads.start(`f${at}`, '/x/')
  await expect(downloads.start('more', '/x/')).rejects.toMatchObject({ code: 'files.too_many' })
  asked[0]?.fail(new Error('ended'))
  await expect.poll(() => downloads.list()[0]?.state.type).toBe('failed')
  await downloads.start('more', '/x/')
  expect(downloads.list().map(({ name }) => name)).not.toContain('f0')
  expect(downloads.list()).toHaveLength(MAX_DOWNLOADS)
  await downloads.stop()
})

test('a name that cannot be one is refused', async () => {
  const { downloads } = createFetches()
  await expect(downloads.start('', '/x')).rejects.toMatchObject({ code: 'services.bad_name' })
})
