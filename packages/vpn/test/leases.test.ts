import { parseCidr } from '@mesh/core'
import { leaderOf } from '@mesh/ledger'
import { describe, expect, it } from 'vitest'
import { createRetainingStore } from '../../replication/test/sim-node.ts'
import { createLeaseLab, createMemoryLease, type Leaser, MINUTE, SECOND } from './lease-lab.ts'

const isPlaced = (node: { address: string | undefined }) => node.address !== undefined
const sorted = (nodes: readonly { address: string | undefined }[]) =>
  nodes.map(({ address }) => address ?? '').toSorted((a, b) => (a < b ? -1 : 1))
const areDistinct = (nodes: readonly { address: string | undefined }[]) =>
  nodes.every(isPlaced) && new Set(nodes.map(({ address }) => address)).size === nodes.length

describe('nodes of ours', () => {
  it('have the first address as soon as they have arrived, when they are alone', async () => {
    const lab = createLeaseLab(1, 1)
    const anna = await lab.vpn(0)
    expect(await lab.until(() => isPlaced(anna), 10 * SECOND)).toBeLessThanOrEqual(6 * SECOND)
    expect(anna.address).toBe('10.1.0.1')
    await lab.stop()
    await lab.clock.advance(15 * MINUTE)
    expect(lab.clock.pending).toBe(0)
  })

  it.each([1, 2, 3])('five started together have distinct addresses within 15 s (%i)', async (seed) => {
    const lab = createLeaseLab(seed, 5)
    const nodes = await Promise.all(lab.ids.map((_, number) => lab.vpn(number)))
    expect(await lab.until(() => nodes.every(isPlaced), MINUTE)).toBeLessThanOrEqual(15 * SECOND)
    await lab.clock.advance(MINUTE)
    expect(sorted(nodes)).toEqual([1, 2, 3, 4, 5].map((n) => `10.1.0.${n}`))
    expect(nodes.every(({ leases }) => leases.length === 1)).toBe(true)
    await lab.stop()
  })

  it('thirty of few connections, with losses, come to distinct addresses', { timeout: 300_000 }, async () => {
    const count = 30
    const lab = createLeaseLab(11, count, { loss: 0.03, duplication: 0.05, latencyMs: [5, 400] })
    const nodes: Leaser[] = []
    for (let number = 0; number < count; number++) {
      const near = new Set([1, 3, 11].map((step) => lab.ids[(number + step) % count]))
      nodes.push(await lab.vpn(number, { isNear: (peer) => near.has(peer) }))
    }
    expect(await lab.until(() => nodes.every(isPlaced), 3 * MINUTE)).toBeLessThanOrEqual(2 * MINUTE)
    expect(await lab.until(() => areDistinct(nodes), 4 * MINUTE)).toBeDefined()
    await lab.stop()
  })

  it('use gaps, and no address of a machine that is gone before it is reaped', async () => {
    const lab = createLeaseLab(2, 3)
    const anna = await lab.vpn(0)
    await lab.until(() => isPlaced(anna), MINUTE)
    await anna.node.ledger.put('machines', '10.1.0.3', JSON.stringify({ PeerID: anna.node.id })).settled
    const bert = await lab.vpn(1)
    await lab.until(() => isPlaced(bert), MINUTE)
    expect(bert.address).toBe('10.1.0.2')
    await anna.kill()
    await lab.clock.advance(9 * MINUTE)
    const carl = await lab.vpn(2)
    await lab.until(() => isPlaced(carl), MINUTE)
    expect(carl.address).toBe('10.1.0.4')
    await lab.stop()
  })

  it('say which range is full, and what to do', async () => {
    const lab = createLeaseLab(3, 3)
    const range = parseCidr('10.9.0.0/30')
    const nodes = await Promise.all(lab.ids.map((_, number) => lab.vpn(number, { range })))
    await lab.until(() => nodes.every((node) => isPlaced(node) || node.error !== undefined), MINUTE)
    expect(sorted(nodes)).toEqual(['', '10.9.0.1', '10.9.0.2'])
    expect(nodes.find(({ error }) => error !== undefined)?.error).toMatchObject({
      code: 'vpn.range_full',
      message: 'all 2 addresses of 10.9.0.0/30 are used',
      hint: expect.stringContaining('--address 10.9.0.0/22 --dhcp'),
    })
    await lab.stop()
  })
})

describe('a remembered lease', () => {
  it('is taken again at once, without a turn', async () => {
    const lab = createLeaseLab(4, 3)
    const store = createMemoryLease('10.1.0.77\n')
    const [anna, bert] = [await lab.vpn(0), await lab.vpn(1, { store })]
    await lab.until(() => isPlaced(anna) && isPlaced(bert), MINUTE)
    expect([anna.address, bert.address]).toEqual(['10.1.0.1', '10.1.0.77'])
    await bert.kill()
    const back = await lab.vpn(1, { store })
    expect(await lab.until(() => isPlaced(back), MINUTE)).toBeLessThanOrEqual(2 * SECOND)
    expect(back.address).toBe('10.1.0.77')
    await lab.stop()
  })

  it.each([['10.1.0.1'], ['10.7.0.5'], ['10.1.0.255'], ['no address']])(
    'is dropped when another has it or it is not of the range: %s',
    async (text) => {
      const lab = createLeaseLab(5, 2)
      const anna = await lab.vpn(0)
      await lab.until(() => isPlaced(anna), MINUTE)
      const store = createMemoryLease(text)
      const bert = await lab.vpn(1, { store })
      await lab.until(() => isPlaced(bert), MINUTE)
      expect(bert.address).toBe('10.1.0.2')
      expect(store.text).toBe('10.1.0.2')
      await lab.stop()
    },
  )

  it('is found in the ledger when its file is lost', async () => {
    const lab = createLeaseLab(6, 1)
    const disk = createRetainingStore()
    const anna = await lab.vpn(0, { disk, store: createMemoryLease('10.1.0.9') })
    await lab.until(() => isPlaced(anna), MINUTE)
    await anna.kill()
    const back = await lab.vpn(0, { disk })
    await lab.until(() => isPlaced(back), MINUTE)
    expect(back.address).toBe('10.1.0.9')
    await lab.stop()
  })
})

describe('a lease that another has, too', () => {
  const apart = async (aloneMs: number) => {
    const lab = createLeaseLab(7, 2)
    lab.network.partition((peer) => lab.ids.indexOf(peer))
    const nodes = [await lab.vpn(0), await lab.vpn(1)]
    await lab.until(() => nodes.every(isPlaced), MINUTE)
    expect(nodes.map(({ address }) => address)).toEqual(['10.1.0.1', '10.1.0.1'])
    await lab.clock.advance(aloneMs)
    lab.network.partition(undefined)
    await lab.clock.advance(MINUTE)
    return { lab, nodes }
  }

  it.each([2, 60])('is given up by one of them, who takes another (apart for %i s)', async (seconds) => {
    const { lab, nodes } = await apart(seconds * SECOND)
    expect(sorted(nodes)).toEqual(['10.1.0.1', '10.1.0.2'])
    expect(nodes.flatMap(({ leases }) => leases)).toHaveLength(3)
    expect(nodes.flatMap(({ node }) => node.ledger.conflicts())).toEqual([])
    await lab.stop()
  })

  it('is kept, and told, when both had it for long', async () => {
    const { lab, nodes } = await apart(12 * MINUTE)
    expect(nodes.map(({ address }) => address)).toEqual(['10.1.0.1', '10.1.0.1'])
    expect(nodes.every(({ node }) => node.ledger.conflicts().length === 1)).toBe(true)
    await lab.stop()
  })

  it('is lost to who took it while its owner was away for longer than the liveness window', async () => {
    const lab = createLeaseLab(8, 2)
    const anna = await lab.vpn(0)
    await lab.until(() => isPlaced(anna), MINUTE)
    const bert = await lab.vpn(1)
    await lab.until(() => isPlaced(bert), MINUTE)
    lab.network.partition((peer) => lab.ids.indexOf(peer))
    await lab.clock.advance(10 * MINUTE)
    // Bert's ledger takes Anna for gone.
    await bert.node.ledger.put('machines', '10.1.0.1', JSON.stringify({ PeerID: bert.node.id })).settled
    expect(anna.node.ledger.snapshot().getLive('machines', '10.1.0.1')?.owner).toBe(anna.node.id)
    anna.node.ledger.merge(bert.node.ledger.snapshot().entries('healthcheck'), undefined)
    await lab.clock.advance(SECOND)
    lab.network.partition(undefined)
    await lab.clock.advance(MINUTE)
    expect(areDistinct([anna, bert])).toBe(true)
    await lab.stop()
  })
})

describe('beside older nodes', () => {
  it.each([21, 22])('all get distinct addresses, in turns (%i)', { timeout: 120_000 }, async (seed) => {
    const lab = createLeaseLab(seed, 6)
    const older = [lab.older(0, 'dhcp'), lab.older(1, 'dhcp'), lab.older(2, 'dhcp')]
    const ours = [await lab.vpn(3), await lab.vpn(4), await lab.vpn(5)]
    const all = [...older, ...ours]
    expect(await lab.until(() => all.every(isPlaced), 5 * MINUTE)).toBeLessThanOrEqual(2 * MINUTE)
    await lab.clock.advance(30 * SECOND)
    expect(areDistinct(all)).toBe(true)
    // The derived IPv6 addresses, announced by then, mislead nobody.
    expect(older.every(({ address }) => address?.startsWith('10.1.0.'))).toBe(true)
    await lab.stop()
  })

  it.each([31, 33])(
    'nobody stalls when a node of ours without an interface is elected (%i)',
    { timeout: 120_000 },
    async (seed) => {
      const lab = createLeaseLab(seed, 6)
      const elected = lab.ids.indexOf(leaderOf(lab.ids) ?? '')
      const others = lab.ids.map((_, number) => number).filter((number) => number !== elected)
      await lab.api(elected)
      const older = others.slice(0, 3).map((number) => lab.older(number, 'dhcp'))
      const ours = await Promise.all(others.slice(3).map((number) => lab.vpn(number)))
      const all = [...older, ...ours]
      expect(await lab.until(() => all.every(isPlaced), 5 * MINUTE)).toBeLessThanOrEqual(2 * MINUTE)
      expect(areDistinct(all)).toBe(true)
      await lab.stop()
    },
  )

  it('older ones go on alone with the help of one of ours that wants no address', async () => {
    const lab = createLeaseLab(41, 3)
    const elected = lab.ids.indexOf(leaderOf(lab.ids) ?? '')
    await lab.api(elected)
    const older = [0, 1, 2].filter((number) => number !== elected).map((number) => lab.older(number, 'dhcp'))
    expect(await lab.until(() => older.every(isPlaced), 5 * MINUTE)).toBeLessThanOrEqual(MINUTE)
    expect(areDistinct(older)).toBe(true)
    await lab.stop()
  })

  it('ours pass over an older one that is elected and wants no address, and over one that is gone', async () => {
    const lab = createLeaseLab(42, 4)
    const elected = lab.ids.indexOf(leaderOf(lab.ids) ?? '')
    const [gone = 0, ...others] = [0, 1, 2, 3].filter((number) => number !== elected)
    lab.older(elected, 'api')
    const ended = lab.older(gone, 'api')
    await lab.clock.advance(30 * SECOND)
    await ended.stop()
    const ours = await Promise.all(others.map((number) => lab.vpn(number)))
    expect(await lab.until(() => ours.every(isPlaced), 5 * MINUTE)).toBeLessThanOrEqual(40 * SECOND)
    expect(areDistinct(ours)).toBe(true)
    await lab.stop()
  })
})

describe('nodes without an interface', () => {
  it('write nothing among themselves and beside leases of our kind, and help a legacy one that comes', async () => {
    const lab = createLeaseLab(51, 6)
    const nodes = await Promise.all([0, 1, 2].map((number) => lab.api(number)))
    let writes = 0
    for (const { ledger } of nodes) {
      ledger.subscribe((event) => {
        if (event.type !== 'committed') return
        writes += event.changes.filter(({ bucket, origin }) => bucket === 'dhcp' && origin === 'local').length
      })
    }
    await lab.clock.advance(5 * MINUTE)
    const leasing = await lab.vpn(4)
    expect(await lab.until(() => isPlaced(leasing), MINUTE)).toBeLessThanOrEqual(10 * SECOND)
    await lab.clock.advance(20 * MINUTE)
    expect(writes).toBe(0)
    const late = lab.older(3, 'dhcp')
    expect(await lab.until(() => isPlaced(late), 3 * MINUTE)).toBeLessThanOrEqual(MINUTE)
    const legacy = lab.older(5, 'api')
    await lab.clock.advance(5 * MINUTE)
    await legacy.stop()
    writes = 0
    await lab.clock.advance(20 * MINUTE)
    expect(writes).toBe(0)
    await lab.stop()
  })
})
