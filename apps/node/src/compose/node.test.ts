import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { parsePeerId } from '@mesh/core'
import { type Compression, createCompression } from '@mesh/replication'
import { createManualClock } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { createCleanUps } from '../clean-ups.ts'
import { findProblems, type HealthView } from '../health/health.ts'
import { zlibCompression } from './zlib-compression.ts'

const gunzip = async (compression: Compression, gzip: Uint8Array, maxBytes: number) =>
  await compression.gunzip(gzip, maxBytes)

describe('compression', () => {
  const portable = createCompression(createManualClock())
  test.each([1, 1_000, 100_000, 3_000_000])(
    'what one side of %d bytes makes, the other reads',
    async (size) => {
      const bytes = randomBytes(size)
      const theirs = await portable.gzip(bytes)
      expect(bytes.equals((await gunzip(zlibCompression, theirs, size)) ?? Buffer.of())).toBe(true)
    },
  )
  test('what this side makes, a browser reads', async () => {
    const bytes = randomBytes(2_000)
    expect(Buffer.from((await gunzip(portable, await zlibCompression.gzip(bytes), 2_000)) ?? [])).toEqual(
      bytes,
    )
  })
  test.each([5_000, 100_000_000])('a bomb of %d bytes is refused', async (size) => {
    expect(await gunzip(zlibCompression, gzipSync(Buffer.alloc(size)), size - 1)).toBeUndefined()
  })
  test('what inflates to more than it says is refused', async () => {
    expect(await gunzip(zlibCompression, gzipSync(Buffer.alloc(60_000_000)), 3_000_000)).toBeUndefined()
  })
  test.each([1_000, 3_000_000])('a wrong checksum behind %d bytes is refused', async (size) => {
    const gzip = gzipSync(Buffer.alloc(size, 'x'))
    gzip.fill(0, gzip.length - 8, gzip.length - 4)
    expect(await gunzip(zlibCompression, gzip, size)).toBeUndefined()
  })
  const broken = [Buffer.from('no gzip'), gzipSync(randomBytes(100)).subarray(0, 50), gzipSync('')]
  test.each(broken.flatMap((bytes) => [1_000, 3_000_000].map((maxBytes) => ({ bytes, maxBytes }))))(
    'bytes that are no gzip are refused: $bytes.length of $maxBytes',
    async ({ bytes, maxBytes }) => {
      expect(await gunzip(zlibCompression, bytes, maxBytes)).toBeUndefined()
      expect(await gunzip(portable, bytes, maxBytes)).toBeUndefined()
    },
  )
})

describe('clean-ups', () => {
  test('run in the reverse order, once, also after a failure, which is told', async () => {
    const order: number[] = []
    const cleanUps = createCleanUps()
    cleanUps.add(() => order.push(1))
    cleanUps.add(() => Promise.reject(new Error('no')))
    cleanUps.add(() => order.push(3))
    await expect(cleanUps.run()).rejects.toThrow('no')
    await expect(cleanUps.run()).rejects.toThrow('no')
    expect(order).toEqual([3, 1])
  })
})

describe('health', () => {
  const p2p = (over: object = {}) =>
    ({
      addresses: () => ['/ip4/127.0.0.1/tcp/1'],
      peers: () => [],
      discovery: () => [
        { method: 'mdns', enabled: true, found: 0, lastError: 'no multicast' },
        { method: 'ws', enabled: true, found: undefined, lastError: undefined },
      ],
      ...over,
    }) as unknown as NonNullable<HealthView['p2p']>
  const view = (over: Partial<HealthView> = {}): HealthView => ({
    now: 100_000,
    upMs: 100_000,
    ledger: {
      conflicts: () => [],
      rejections: () => ({}),
      storeFailure: () => undefined,
      clockOffset: () => undefined,
    },
    p2p: p2p(),
    vpn: undefined,
    bootstrapPeers: 0,
    ...over,
  })
  const codes = (over: Partial<HealthView>) => findProblems(view(over)).map(({ code }) => code)

  test('a node alone for a minute says how it looked, and what failed', () => {
    const [problem] = findProblems(view())
    expect(problem).toMatchObject({ code: 'p2p.alone', severity: 'warning' })
    expect(problem?.hint).toContain('Looking by mdns. mdns: no multicast.')
  })
  test('an identity that two processes use is an error here, with the command that ends it, and a warning elsewhere', () => {
    const peer = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
    const identityFile = '/var/lib/my mesh/identity'
    const here = { identitySharedSince: 7, sharedIdentities: [] }
    const [problem] = findProblems(view({ replication: here, identityFile }))
    expect(problem).toMatchObject({ code: 'node.identity_shared', severity: 'error', since: 7 })
    expect(problem?.hint).toContain("`rm '/var/lib/my mesh/identity'`")
    const elsewhere = { identitySharedSince: undefined, sharedIdentities: [peer] }
    expect(findProblems(view({ replication: elsewhere }))).toContainEqual(
      expect.objectContaining({ code: 'node.identity_shared_elsewhere', severity: 'warning' }),
    )
  })
  test('a ledger that is not stored is an error, and the first', () => {
    const storeFailure = () => ({ since: 7, message: 'database or disk is full', count: 3, isDamaged: false })
    const ledger = { conflicts: () => [], rejections: () => ({}), storeFailure, clockOffset: () => undefined }
    expect(findProblems(view({ ledger }))[0]).toMatchObject({
      code: 'ledger.not_stored',
      severity: 'error',
      title: 'The ledger is not stored: database or disk is full',
      since: 7,
    })
    const damaged = () => ({ ...storeFailure(), isDamaged: true })
    const hintOf = (failure: typeof storeFailure) =>
      findProblems(view({ ledger: { ...ledger, storeFailure: failure } }))[0]?.hint
    expect(hintOf(storeFailure)).toContain('tried again')
    expect(hintOf(damaged)).toContain('start the node again')
  })
  test('a clock that differs from the other members’ is an error that says how far it is off', () => {
    const clockOffset = (aheadMs: number) => () => ({ aheadMs, members: 3, differing: [] })
    const quiet = { conflicts: () => [], rejections: () => ({}), storeFailure: () => undefined }
    const of = (aheadMs: number) =>
      findProblems(view({ upMs: 5_000, ledger: { ...quiet, clockOffset: clockOffset(aheadMs) } }))
    expect(of(100_000)).toEqual([])
    expect(of(3_660_000)[0]).toMatchObject({
      code: 'ledger.clock_wrong',
      severity: 'error',
      title: "This machine's clock is 61 minutes ahead of the median of 3 members'",
    })
    expect(of(-300_000)[0]?.hint).toMatch(
      /^This node refuses what others write as coming from the future\. Set/,
    )
    expect(of(-90_000_000)[0]?.hint).toContain('they take it for gone and end what it announces')
    expect(of(-90_000_000)[0]?.title).toBe("This machine's clock is 25 hours behind the median of 3 members'")
  })
  test('clocks of others that are wrong are named while they are, and what was refused then is over with them', () => {
    const quiet = { conflicts: () => [], rejections: () => ({ FUTURE: 9 }), storeFailure: () => undefined }
    const of = (...aheadMs: number[]) => {
      const differing = aheadMs.map((ms, at) => ({ member: `12D3KooWMember${at}`, aheadMs: ms }))
      const clockOffset = () => ({ aheadMs: 0, members: 9, differing })
      return findProblems(view({ upMs: 5_000, ledger: { ...quiet, clockOffset } }))
    }
    expect(of()).toEqual([])
    expect(of(3_600_000, -300_000)).toMatchObject([
      {
        code: 'ledger.clocks_differ',
        severity: 'warning',
        title:
          "The clocks of 2 of 9 members differ from this machine's: WMember0 is 60 minutes ahead, WMember1 is 5 minutes behind",
      },
    ])
    expect(of(1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9)[0]?.title).toMatch(/ and 2 more$/)
  })
  test('a node that just started, or has a member, has no problem', () => {
    expect(codes({ upMs: 5_000 })).toEqual([])
    expect(codes({ p2p: p2p({ peers: () => [{ connected: true, member: true }] }) })).toEqual([])
    expect(codes({ p2p: undefined })).toEqual([])
  })
  test('a stranger is no company', () => {
    expect(codes({ p2p: p2p({ peers: () => [{ id: 'x', connected: true, member: false }] }) })).toEqual([
      'p2p.alone',
    ])
  })
  test('a node without an address says so', () => {
    expect(codes({ upMs: 5_000, p2p: p2p({ addresses: () => [] }) })).toEqual(['p2p.no_address'])
  })
  test('what is wrong with the VPN is told, errors before warnings', () => {
    const problem = (code: string, severity: 'warning' | 'error') => ({
      code,
      severity,
      title: 'T',
      hint: 'H.',
    })
    const vpn = { problems: () => [problem('vpn.a', 'warning'), problem('vpn.b', 'error')] }
    expect(codes({ upMs: 5_000, vpn })).toEqual(['vpn.b', 'vpn.a'])
  })
  test('conflicts, clocks, quotas and forgeries are told', () => {
    const ledger = {
      conflicts: () => [{ bucket: 'dns', key: 'x', owners: ['a', 'b'], since: 7 }],
      rejections: () => ({ FUTURE: 1, QUOTA: 2, BAD_SIG: 3, ROLLBACK: 9 }),
      storeFailure: () => undefined,
      clockOffset: () => undefined,
    }
    expect(codes({ upMs: 5_000, ledger })).toEqual([
      'ledger.clocks_differ',
      'ledger.conflict',
      'ledger.over_quota',
      'ledger.forged',
    ])
  })
  test('members that sign nothing are told as such, and neither as forgers nor as nobody', () => {
    const ledger = {
      conflicts: () => [],
      rejections: () => ({ UNSIGNED: 44 }),
      storeFailure: () => undefined,
      clockOffset: () => undefined,
    }
    expect(codes({ upMs: 600_000, ledger, p2p: p2p({}) })).toEqual(['ledger.unsigned'])
  })
})
