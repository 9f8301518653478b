import { heartbeatValue, parseCidr } from '@mesh/core'
import { canonicalBytes, type KeyedEntry, leaderOf, type Signer } from '@mesh/ledger'
import { describe, expect, it } from 'vitest'
import { createRetainingStore, createSimSigner } from '@mesh/replication/testing'
import { createSeededRandom } from '@mesh/testkit'
import { createLeaseLab, createMemoryLease, type Leaser, MINUTE, SECOND } from './lease-lab.ts'

const isPlaced = (node: { address: string | undefined }) => node.address !== undefined
const sorted = (nodes: readonly { address: string | undefined }[]) =>
  nodes.map(({ address }) => address ?? '').toSorted((a, b) => (a < b ? -1 : 1))
const areDistinct = (nodes: readonly { address: string | undefined }[]) =>
  nodes.every(isPlaced) && new Set(nodes.map(({ address }) => address)).size === nodes.length

/** An entry of a member that is no node of the lab. */
function signed(
  signer: Signer,
  { bucket, key }: { readonly bucket: string; readonly key: string },
  value: string,
  nowMs: number,
): KeyedEntry {
  const version = BigInt(nowMs) * 1_000_000n
  const updatedAt = Math.floor(nowMs / 1000)
  const entry = { value, owner: signer.peerId, version, updatedAt, deleted: false, sig: null }
  return { bucket, key, entry: { ...entry, sig: signer.sign(canonicalBytes({ bucket, key, entry })) } }
}

/** The record by which a machine asks for an address that a person gave it. */
const asking = (signer: Signer, address: string, nowMs: number) => {
  const value = JSON.stringify({ PeerID: signer.peerId, Hostname: 'rival', Address: address })
  return signed(signer, { bucket: 'machines', key: `fd00::${address.split('.').at(-1)}` }, value, nowMs)
}

describe('nodes of ours', () => {
  it('have the first address as soon as they are in sync, when they are alone', async () => {
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

  it('thirty started together take an address each in one turn', { timeout: 300_000 }, async () => {
    const lab = createLeaseLab(12, 30, { latencyMs: [5, 100] })
    const nodes = await Promise.all(lab.ids.map((_, number) => lab.vpn(number)))
    expect(await lab.until(() => areDistinct(nodes), 3 * MINUTE)).toBeLessThanOrEqual(10 * SECOND)
    await lab.clock.advance(MINUTE)
    expect(areDistinct(nodes)).toBe(true)
    expect(sorted(nodes)).toEqual(Array.from({ length: 30 }, (_, n) => `10.1.0.${n + 1}`).toSorted())
    await lab.stop()
  })

  it('thirty that met after each took the first address are soon apart', { timeout: 300_000 }, async () => {
    const lab = createLeaseLab(13, 30, { latencyMs: [5, 100] })
    lab.network.partition((peer) => lab.ids.indexOf(peer))
    const nodes = await Promise.all(lab.ids.map((_, number) => lab.vpn(number)))
    await lab.until(() => nodes.every(isPlaced), MINUTE)
    expect(new Set(nodes.map(({ address }) => address))).toEqual(new Set(['10.1.0.1']))
    lab.network.partition(undefined)
    expect(await lab.until(() => areDistinct(nodes), 5 * MINUTE)).toBeLessThanOrEqual(20 * SECOND)
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

  it('find room where one member claims every address: it keeps its share, on all members alike', async () => {
    const lab = createLeaseLab(5, 4)
    const greedy = await lab.vpn(0)
    const witness = await lab.vpn(1)
    await lab.until(() => isPlaced(greedy) && isPlaced(witness), MINUTE)
    for (let n = 3; n <= 254; n++) {
      const value = JSON.stringify({ PeerID: greedy.node.id, Address: `10.1.0.${n}` })
      void greedy.node.ledger.put('machines', `10.1.0.${n}`, value).settled
    }
    await lab.clock.advance(10 * SECOND)
    const claimed = [...witness.node.ledger.snapshot().entries('machines')].filter(
      ({ entry }) => entry.owner === greedy.node.id,
    )
    expect(claimed.length).toBeLessThanOrEqual(48)
    const carl = await lab.vpn(2)
    expect(await lab.until(() => isPlaced(carl), MINUTE)).toBeDefined()
    const dora = await lab.vpn(3)
    expect(await lab.until(() => isPlaced(dora), MINUTE)).toBeDefined()
    expect(areDistinct([witness, carl, dora])).toBe(true)
    await lab.clock.advance(MINUTE)
    expect(carl.leases.length + dora.leases.length).toBe(2)
    await lab.stop()
  })

  it('find room where twelve keys claim every other address together', async () => {
    const lab = createLeaseLab(6, 2)
    const witness = await lab.vpn(0)
    await lab.until(() => isPlaced(witness), MINUTE)
    const random = createSeededRandom(12)
    for (let key = 0; key < 12; key++) {
      const signer = createSimSigner(random)
      const sign = (bucket: string, name: string, value: string) =>
        signed(signer, { bucket, key: name }, value, lab.clock.now())
      const own = Array.from({ length: 253 }, (_, n) => n + 2).filter((n) => n % 12 === key)
      const claims = own.map((n) => {
        const record = JSON.stringify({ PeerID: signer.peerId, Address: `10.1.0.${n}` })
        return sign('machines', `10.1.0.${n}`, record)
      })
      const heartbeat = sign('healthcheck', signer.peerId, heartbeatValue(lab.clock.now()))
      const { accepted } = witness.node.ledger.merge([heartbeat, ...claims], undefined)
      expect(accepted).toBeGreaterThan(1)
    }
    const carl = await lab.vpn(1)
    expect(await lab.until(() => isPlaced(carl), MINUTE)).toBeDefined()
    expect(areDistinct([witness, carl])).toBe(true)
    await lab.clock.advance(MINUTE)
    expect([witness.leases.length, carl.leases.length]).toEqual([1, 1])
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

  it.each([0, 1])('stays with who had it before a restart, a rival moves (node %i)', async (keeper) => {
    const lab = createLeaseLab(9, 2)
    lab.network.partition((peer) => lab.ids.indexOf(peer))
    const [store, disk] = [createMemoryLease(), createRetainingStore()]
    const first = await lab.vpn(keeper, { store, disk })
    await lab.until(() => isPlaced(first), MINUTE)
    await first.kill()
    const [back, rival] = [await lab.vpn(keeper, { store, disk }), await lab.vpn(1 - keeper)]
    await lab.until(() => isPlaced(back) && isPlaced(rival), MINUTE)
    expect([back.address, rival.address]).toEqual(['10.1.0.1', '10.1.0.1'])
    lab.network.partition(undefined)
    await lab.clock.advance(MINUTE)
    expect([back.address, rival.address]).toEqual(['10.1.0.1', '10.1.0.2'])
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

describe('a fixed address that a lease has claimed, too, before they knew of each other', () => {
  const SEEDS = Array.from({ length: 40 }, (_, at) => 100 + at)

  /** Both start within some seconds; where they are apart first, they meet later. */
  const meet = async (seed: number, apartMs: number) => {
    const lab = createLeaseLab(seed, 2)
    const isFixedFirst = seed % 2 === 0
    if (apartMs > 0) lab.network.partition((peer) => lab.ids.indexOf(peer))
    const startFixed = () => lab.fixed(0, '10.1.0.1')
    const early = isFixedFirst ? await startFixed() : undefined
    const leasing = isFixedFirst ? undefined : await lab.vpn(1)
    await lab.clock.advance((seed % 9) * 1_000)
    const fixed = early ?? (await startFixed())
    const leaser = leasing ?? (await lab.vpn(1))
    await lab.clock.advance(apartMs)
    lab.network.partition(undefined)
    await lab.clock.advance(MINUTE)
    const seen = [fixed.address, (fixed.error as Error | undefined)?.message, leaser.address]
    await lab.stop()
    return seen
  }

  it.each([0, 3_000, 8_000, 60_000, 300_000])(
    'is kept, and the lease moves (apart for %i ms)',
    async (apartMs) => {
      for (const seed of SEEDS) {
        const [fixed, error, leased] = await meet(seed, apartMs)
        expect([seed, fixed, error]).toEqual([seed, '10.1.0.1', undefined])
        expect([seed, leased]).toEqual([seed, expect.stringMatching(/^10\.1\.0\.(?!1$)\d+$/)])
      }
    },
  )
})

describe('a young lease', () => {
  it('moves for few who ask for it, and is kept then', async () => {
    const lab = createLeaseLab(65, 2)
    const anna = await lab.vpn(0)
    await lab.until(() => isPlaced(anna), MINUTE)
    const random = createSeededRandom(40)
    const claimed = new Set<string>()
    anna.node.ledger.subscribe((event) => {
      if (event.type !== 'committed') return
      for (const { key, entry } of event.changes) {
        if (entry.deleted || !key.startsWith('10.') || claimed.has(key)) continue
        claimed.add(key)
        const rival = createSimSigner(random)
        // as soon as it is claimed, and not only when it is leased
        lab.clock.after(claimed.size % 2, () =>
          anna.node.ledger.merge([asking(rival, key, lab.clock.now())], undefined),
        )
      }
    })
    anna.node.ledger.merge([asking(createSimSigner(random), '10.1.0.1', lab.clock.now())], undefined)
    await lab.clock.advance(5 * MINUTE)
    expect(claimed.size).toBe(16)
    expect(isPlaced(anna)).toBe(true)
    await lab.stop()
  })

  it('is no longer young after a restart, even if others asked for it before', async () => {
    const lab = createLeaseLab(66, 2)
    const [disk, store] = [createRetainingStore(), createMemoryLease()]
    const anna = await lab.vpn(0, { disk, store })
    await lab.until(() => isPlaced(anna), MINUTE)
    await lab.clock.advance(12 * MINUTE)
    const rival = createSimSigner(createSeededRandom(41))
    anna.node.ledger.merge([asking(rival, '10.1.0.1', lab.clock.now())], undefined)
    await lab.clock.advance(MINUTE)
    expect(anna.address).toBe('10.1.0.1')
    await anna.kill()
    const again = await lab.vpn(0, { disk, store })
    await lab.clock.advance(MINUTE)
    expect(again.leases).toEqual(['10.1.0.1'])
    await lab.stop()
  })
})

describe('an address that is held', () => {
  it('is not given up to a newcomer, who is told who holds it, until it moves', async () => {
    const lab = createLeaseLab(61, 2)
    const anna = await lab.vpn(0)
    await lab.until(() => isPlaced(anna), MINUTE)
    await lab.clock.advance(2 * MINUTE)
    const bert = await lab.fixed(1, '10.1.0.1')
    expect(await lab.until(() => bert.error !== undefined, MINUTE)).toBeLessThanOrEqual(5 * SECOND)
    expect(bert.error).toMatchObject({
      code: 'vpn.address_taken',
      message: `10.1.0.1 belongs to host (${anna.node.id.slice(-8)}), by lease`,
      hint: expect.stringContaining('move host'),
      details: { peer: anna.node.id },
    })
    await lab.stop()
  })

  it('is free at once when its holder is given another', async () => {
    const lab = createLeaseLab(63, 3)
    const disk = createRetainingStore()
    const witness = await lab.vpn(2)
    const anna = await lab.vpn(0, { disk })
    await lab.until(() => isPlaced(anna) && isPlaced(witness), MINUTE)
    const held = anna.address ?? ''
    await lab.clock.advance(12 * MINUTE)
    await anna.kill()
    const moved = await lab.fixed(0, '10.1.0.77', { disk })
    await lab.until(() => isPlaced(moved), MINUTE)
    const bert = await lab.fixed(1, held)
    expect(await lab.until(() => isPlaced(bert), MINUTE)).toBeLessThanOrEqual(10 * SECOND)
    expect(bert.error).toBeUndefined()
    await lab.stop()
  })

  it('is leased to nobody else for 30 days, over restarts', async () => {
    const lab = createLeaseLab(62, 4)
    const DAY = 24 * 60 * MINUTE
    const pastStore = createMemoryLease()
    const anna = await lab.vpn(0)
    await lab.until(() => isPlaced(anna), MINUTE)
    const bert = await lab.vpn(1, { pastStore })
    await lab.until(() => isPlaced(bert), MINUTE)
    expect([anna.address, bert.address]).toEqual(['10.1.0.1', '10.1.0.2'])
    await anna.kill()
    await bert.kill()
    // a ledger that knows nothing any more, and no lease of its own
    await lab.clock.advance(29 * DAY)
    const again = await lab.vpn(1, { pastStore })
    await lab.until(() => isPlaced(again), MINUTE)
    expect(again.address).toBe('10.1.0.2')
    await again.kill()
    await lab.clock.advance(31 * DAY)
    const late = await lab.vpn(3, { pastStore })
    await lab.until(() => isPlaced(late), MINUTE)
    expect(late.address).toBe('10.1.0.1')
    await lab.stop()
  })

  it('is leased where many keys had all of a range for a moment, and nothing else is free', async () => {
    const lab = createLeaseLab(63, 2)
    const DAY = 24 * 60 * MINUTE
    const [sybil, now] = [lab.ids[0], lab.clock.now()]
    const had = (n: number) => [
      `10.1.0.${n}`,
      { peer: sybil, at: now - MINUTE, since: n <= 200 ? now - 2 * DAY : now - 2 * MINUTE },
    ]
    const past = Object.fromEntries(Array.from({ length: 254 }, (_, n) => had(n + 1)))
    const bert = await lab.vpn(1, { pastStore: createMemoryLease(JSON.stringify(past)) })
    await lab.until(() => isPlaced(bert), MINUTE)
    expect(bert.address).toBe('10.1.0.201')
    await lab.stop()
  })

  it('is not leased by who remembers it from an earlier run, when another had it meanwhile', async () => {
    const lab = createLeaseLab(64, 2)
    const pastStore = createMemoryLease(
      JSON.stringify({ '10.1.0.9': { peer: lab.ids[0], at: lab.clock.now() - MINUTE } }),
    )
    const bert = await lab.vpn(1, { store: createMemoryLease('10.1.0.9'), pastStore })
    await lab.until(() => isPlaced(bert), MINUTE)
    expect(bert.address).toBe('10.1.0.1')
    await lab.stop()
  })
})

describe('beside legacy nodes', () => {
  it.each([21, 22])('all get distinct addresses, in turns (%i)', { timeout: 120_000 }, async (seed) => {
    const lab = createLeaseLab(seed, 6)
    const legacy = [lab.legacy(0, 'dhcp'), lab.legacy(1, 'dhcp'), lab.legacy(2, 'dhcp')]
    const ours = [await lab.vpn(3), await lab.vpn(4), await lab.vpn(5)]
    const all = [...legacy, ...ours]
    expect(await lab.until(() => all.every(isPlaced), 5 * MINUTE)).toBeLessThanOrEqual(2 * MINUTE)
    await lab.clock.advance(30 * SECOND)
    expect(areDistinct(all)).toBe(true)
    // The derived IPv6 addresses, announced by then, mislead nobody.
    expect(legacy.every(({ address }) => address?.startsWith('10.1.0.'))).toBe(true)
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
      const legacy = others.slice(0, 3).map((number) => lab.legacy(number, 'dhcp'))
      const ours = await Promise.all(others.slice(3).map((number) => lab.vpn(number)))
      const all = [...legacy, ...ours]
      expect(await lab.until(() => all.every(isPlaced), 5 * MINUTE)).toBeLessThanOrEqual(2 * MINUTE)
      expect(areDistinct(all)).toBe(true)
      await lab.stop()
    },
  )

  it('legacy ones go on alone with the help of one of ours that wants no address', async () => {
    const lab = createLeaseLab(41, 3)
    const elected = lab.ids.indexOf(leaderOf(lab.ids) ?? '')
    await lab.api(elected)
    const legacy = [0, 1, 2]
      .filter((number) => number !== elected)
      .map((number) => lab.legacy(number, 'dhcp'))
    expect(await lab.until(() => legacy.every(isPlaced), 5 * MINUTE)).toBeLessThanOrEqual(MINUTE)
    expect(areDistinct(legacy)).toBe(true)
    await lab.stop()
  })

  it('ours pass over an legacy one that is elected and wants no address, and over one that is gone', async () => {
    const lab = createLeaseLab(42, 4)
    const elected = lab.ids.indexOf(leaderOf(lab.ids) ?? '')
    const [gone = 0, ...others] = [0, 1, 2, 3].filter((number) => number !== elected)
    lab.legacy(elected, 'api')
    const ended = lab.legacy(gone, 'api')
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
    const late = lab.legacy(3, 'dhcp')
    expect(await lab.until(() => isPlaced(late), 3 * MINUTE)).toBeLessThanOrEqual(MINUTE)
    const legacy = lab.legacy(5, 'api')
    await lab.clock.advance(5 * MINUTE)
    await legacy.stop()
    writes = 0
    await lab.clock.advance(20 * MINUTE)
    expect(writes).toBe(0)
    await lab.stop()
  })
})
