/** The ways over UDP in virtual time: what must hold behind every NAT, with loss, firewalls and addresses that change. */
import type { IpAddress } from '@mesh/core'
import type { Endpoint } from '@mesh/engine'
import { createSeededRandom, NAT_KINDS, type NatKind } from '@mesh/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import type { NoPathReason } from '../src/paths/explain.ts'
import { PathNetwork, type SimMember } from './path-network.ts'

const networks: PathNetwork[] = []
afterEach(async () => {
  for (const network of networks.splice(0)) {
    network.stop()
    // what is on its way arrives
    await network.run(1_000)
    if (network.clock.pending > 0) throw new Error('timers are left')
  }
})

function networkOf(seed = 1): PathNetwork {
  const network = new PathNetwork(seed)
  networks.push(network)
  return network
}

function isDirect(a: SimMember, b: SimMember): boolean {
  return [a.paths.pathOf(b.id), b.paths.pathOf(a.id)].every((path) => path?.alsoStream === false)
}

/** Two members that have a path. */
async function direct(kinds: readonly [NatKind, NatKind] = ['open', 'open'], seed = 1) {
  const network = networkOf(seed)
  const [a, b] = [network.add('a', kinds[0]), network.add('b', kinds[1])]
  if (kinds.every((kind) => kind === 'open')) network.join(a, b)
  else await network.meet(a, b)
  expect(await network.until(() => isDirect(a, b), 5_000)).toBeLessThan(5_000)
  return { network, a, b }
}

/** Why no probing finds a way between two kinds; all other pairs find one. */
const CLOSED: Readonly<Partial<Record<NatKind, Readonly<Partial<Record<NatKind, NoPathReason>>>>>> = {
  'port-restricted': { symmetric: 'one-varies', 'udp-blocked': 'blocked' },
  open: { 'udp-blocked': 'blocked' },
  'full-cone': { 'udp-blocked': 'blocked' },
  'address-restricted': { 'udp-blocked': 'blocked' },
  symmetric: { symmetric: 'both-vary', 'udp-blocked': 'blocked' },
  'udp-blocked': { 'udp-blocked': 'blocked' },
}

describe('behind NATs', () => {
  test.each(NAT_KINDS.flatMap((one, at) => NAT_KINDS.slice(at).map((other) => [one, other] as const)))(
    '%s and %s',
    async (one, other) => {
      const network = networkOf()
      const [a, b] = [network.add('a', one), network.add('b', other)]
      await network.meet(a, b)
      const expected = CLOSED[one]?.[other]
      const tookMs = await network.until(() => isDirect(a, b), expected === undefined ? 3_000 : 10_000)
      expect(Number.isFinite(tookMs)).toBe(expected === undefined)
      expect(a.paths.status(b.id).reason).toBe(expected)
    },
  )

  test.each([1, 2, 3])(
    'with a tenth lost and jitter there is a path, and it stays (seed %i)',
    async (seed) => {
      const network = networkOf(seed)
      Object.assign(network, { loss: 0.1, jitterMs: 40 })
      const [a, b] = [network.add('a', 'port-restricted'), network.add('b', 'address-restricted')]
      await network.meet(a, b)
      expect(await network.until(() => isDirect(a, b), 10_000)).toBeLessThan(10_000)
      const gone = () => (a.changes.get(b.id) ?? []).filter(({ path }) => path === undefined).length
      const before = gone()
      await network.run(3 * 60_000)
      // three lost probes in a row happen once in some minutes
      expect(gone() - before).toBeLessThan(4)
    },
  )

  test('a mapping that is dropped every minute is found again within 3 s, and the stream helps meanwhile', async () => {
    const { network, a, b } = await direct(['port-restricted', 'full-cone'])
    for (let minute = 0; minute < 3; minute++) {
      a.nat.move(a.nat.ip)
      await network.run(3_000)
      expect(isDirect(a, b)).toBe(true)
      await network.run(57_000)
    }
  })

  describe('that forget each mapping after a minute or less, traffic or not', () => {
    interface ForgetfulInit extends Partial<PathNetwork> {
      readonly forgetting?: number
      readonly seed?: number
      /** How long a mapping lives at least. */
      readonly lifeMs?: number
    }

    /** Two members of whose NATs those of `forgetting` do so, once the nodes could know. */
    async function forgetful(
      kinds: readonly [NatKind, NatKind],
      { forgetting = 1, seed = 1, lifeMs = 50_000, ...world }: ForgetfulInit,
    ) {
      const network = Object.assign(networkOf(seed), world)
      const random = createSeededRandom(seed)
      const [a, b] = [network.add('a', kinds[0]), network.add('b', kinds[1])]
      for (const { nat } of [a, b].slice(0, forgetting)) nat.lifeMs = () => lifeMs * (1 + random.float() / 2)
      await network.meet(a, b)
      await network.run(3.2 * lifeMs)
      return { network, a, b }
    }

    test.each([
      { kinds: ['port-restricted', 'full-cone'] },
      { kinds: ['port-restricted', 'port-restricted'], seed: 2, lifeMs: 26_000 },
      { kinds: ['port-restricted', 'port-restricted'], lifeMs: 20_000 },
      { kinds: ['symmetric', 'open'], seed: 4, lifeMs: 28_000 },
      { kinds: ['port-restricted', 'port-restricted'], forgetting: 2, seed: 6, lifeMs: 30_000 },
    ] as const)(
      'the next one is there before: $kinds, $forgetting forgetting',
      async ({ kinds, ...world }) => {
        const { network, a, b } = await forgetful(kinds, world)
        let helped = 0
        for (let minute = 0; minute < 2; minute++) {
          expect(await network.countLost(60_000, [a, b])).toBe(0)
          helped += isDirect(a, b) ? 0 : 1
        }
        expect(helped).toBeLessThan(2)
        expect(a.sockets.size).toBeGreaterThan(0)
      },
    )

    test('with loss and jitter packets are lost no longer than that makes', async () => {
      const world = { seed: 7, lifeMs: 30_000, loss: 0.03, jitterMs: 40 }
      const { network, a, b } = await forgetful(['port-restricted', 'port-restricted'], world)
      expect(await network.countLost(200_000, [a, b])).toBeLessThan(10)
    })

    test('where there can be no further socket, the stream carries what the mapping will not', async () => {
      const { network, a, b } = await forgetful(['port-restricted', 'full-cone'], {
        maxSockets: 0,
        seed: 8,
        lifeMs: 30_000,
      })
      await network.run(30_000)
      // half a second at most each time, where the stream was not expected to be needed yet
      expect(await network.countLost(200_000, [a, b])).toBeLessThan(20)
      expect(a.sockets.size).toBe(0)
    })

    test('one that restarts again and again with another address is no such NAT, and is expected to break again', async () => {
      const network = networkOf(3)
      const [a, b] = [network.add('a', 'port-restricted'), network.add('b', 'port-restricted')]
      await network.meet(a, b)
      await network.run(20_000)
      const lost: number[] = []
      for (let restart = 0; restart < 10; restart++) {
        a.nat.move(`5.5.5.${50 + restart}`)
        lost.push(await network.countLost(25_000, [a, b]))
        expect(a.sockets.size).toBe(0)
      }
      // tenths of a second, once the period is known
      expect(Math.max(...lost.slice(4))).toBeLessThan(5)
    })

    test.each([20_000, 25_000, 60_000])(
      'one that restarts every %i ms with the same address is soon known to be none, and is expected to break again',
      async (everyMs) => {
        const network = networkOf(3)
        const [a, b] = [network.add('a', 'port-restricted'), network.add('b', 'port-restricted')]
        await network.meet(a, b)
        await network.run(20_000)
        const [lost, sockets]: [number[], number[]] = [[], []]
        for (let restart = 0; restart < 10; restart++) {
          a.nat.move(a.nat.ip)
          lost.push(await network.countLost(everyMs, [a, b]))
          sockets.push(a.sockets.size)
        }
        expect(sockets.filter((open) => open > 0).length).toBeLessThan(3)
        expect(Math.max(...lost.slice(7))).toBeLessThan(5)
      },
    )

    test('one that restarted once is met again after a mapping lasted', async () => {
      const { network, a, b } = await forgetful(['port-restricted', 'port-restricted'], { lifeMs: 25_000 })
      const socketInUse = () => a.paths.pathOf(b.id)?.socket
      const before = socketInUse()
      const isNext = () => socketInUse() !== undefined && socketInUse() !== before
      expect(await network.until(isNext, 30_000)).toBeLessThan(30_000)
      await network.run(3_000)
      a.nat.move(a.nat.ip)
      await network.run(90_000)
      expect(a.sockets.size).toBe(0)
      a.nat.lifeMs = () => Number.POSITIVE_INFINITY
      await network.run(300_000)
      a.nat.lifeMs = () => 25_000
      a.nat.move(a.nat.ip)
      await network.run(100_000)
      expect(a.sockets.size).toBeGreaterThan(0)
    })

    test('once the NAT forgets no more, packets leave by the first socket again', async () => {
      const { network, a, b } = await forgetful(['port-restricted', 'full-cone'], { seed: 9, lifeMs: 25_000 })
      expect(a.sockets.size).toBeGreaterThan(0)
      a.nat.lifeMs = () => Number.POSITIVE_INFINITY
      await network.run(300_000)
      expect(a.sockets.size).toBe(0)
      expect(a.paths.pathOf(b.id)?.socket).toBeUndefined()
      expect(isDirect(a, b)).toBe(true)
      expect(await network.countLost(60_000, [a, b])).toBe(0)
    })
  })

  test('another mapping is learnt at once from those who are kept, though no packets pass to them', async () => {
    const { network, a, b } = await direct(['port-restricted', 'port-restricted'])
    for (const open of network.members.slice(2)) {
      for (const each of [a, b]) each.active.delete(open.id)
      open.active.clear()
    }
    await network.run(31_000)
    a.nat.move(a.nat.ip)
    expect(await network.until(() => !isDirect(a, b), 3_000)).toBeLessThan(3_000)
    expect(await network.until(() => isDirect(a, b), 4_000)).toBeLessThan(4_000)
  })

  test('one lost probe does not make it leave for another path', async () => {
    const network = networkOf(4)
    network.loss = 0.03
    const [a, b] = [network.add('a', 'open'), network.add('b', 'open')]
    b.others.set('7.7.7.7' as never, 0)
    network.join(a, b)
    await network.run(5_000)
    let changes = 0
    let last = a.paths.pathOf(b.id)?.endpoint
    for (let second = 0; second < 600; second++) {
      await network.run(1_000)
      const { endpoint } = a.paths.pathOf(b.id) ?? {}
      if (endpoint !== last) changes++
      last = endpoint
    }
    // two in a row are lost once in some minutes
    expect(changes).toBeLessThan(6)
  })

  test('another port that the NAT of a peer gave it is found while the stream helps', async () => {
    const { network, a, b } = await direct(['port-restricted', 'full-cone'])
    const before = b.paths.pathOf(a.id)?.endpoint
    a.nat.move(a.nat.ip)
    const helpMs = await network.until(() => b.paths.pathOf(a.id)?.alsoStream === true, 3_000)
    expect(helpMs).toBeLessThan(900)
    expect(await network.until(() => isDirect(a, b), 3_000)).toBeLessThan(500)
    expect(b.paths.pathOf(a.id)?.endpoint).not.toEqual(before)
  })

  test("a port that a router gave leads in where the NAT's own would not", async () => {
    const network = networkOf()
    const [a, b] = [network.add('a', 'symmetric'), network.add('b', 'symmetric')]
    network.mapPort(a, 4_000)
    network.join(a, b)
    expect(await network.until(() => isDirect(a, b), 5_000)).toBeLessThan(5_000)
    expect(b.paths.pathOf(a.id)?.endpoint).toEqual({ address: a.nat.ip, port: 4_000 })
    expect(b.paths.status(a.id).candidates.map(({ kind }) => kind)).toContain('mapped')
  })

  test('a member that moves to another address is followed', async () => {
    const { network, a, b } = await direct(['port-restricted', 'address-restricted'])
    a.nat.move('5.5.5.99')
    await network.run(6_000)
    expect(isDirect(a, b)).toBe(true)
    expect(b.paths.pathOf(a.id)?.endpoint.address).toBe('5.5.5.99')
  })

  test('nobody is said to be heard at an address of before', async () => {
    const { network, a, b } = await direct(['port-restricted', 'open'])
    await network.run(35_000)
    a.nat.move('5.5.5.99')
    await network.run(2_000)
    const asked = b.paths.measure(a.id, new AbortController().signal)
    await network.run(2_000)
    await asked
    const seen = b.paths.status(a.id).candidates.filter(({ kind }) => kind !== 'own')
    const told = seen.map(({ endpoint, isAnswered, isHeard }) => [endpoint.address, { isAnswered, isHeard }])
    expect(Object.fromEntries(told)).toEqual({
      '5.5.5.1': { isAnswered: false, isHeard: false },
      '5.5.5.99': { isAnswered: true, isHeard: true },
    })
  })

  test('another mapping is told of once with each peer that sees it', async () => {
    const { network, a } = await direct(['port-restricted', 'open'])
    const witnesses = network.members.slice(1).map(({ id }) => id)
    await network.run(35_000)
    expect(a.remapped).toEqual([])
    a.nat.move('5.5.5.99')
    await network.run(1_500)
    expect(a.remapped.toSorted()).toEqual(witnesses.toSorted())
    await network.run(60_000)
    expect(a.remapped).toHaveLength(witnesses.length)
  })
})

test('a first search that was missed is soon repeated, and later ones seldom', async () => {
  const network = networkOf()
  const [a, b] = [network.add('a', 'open'), network.add('b', 'open')]
  network.loss = 1
  network.join(a, b)
  await network.run(9_500)
  network.loss = 0
  expect(await network.until(() => isDirect(a, b), 3_000)).toBeLessThan(3_000)
  network.loss = 1
  const c = network.add('c', 'open')
  network.join(a, c)
  await network.run(200_000)
  const before = network.sent.length
  b.active.delete(a.id)
  a.active.delete(b.id)
  await network.run(60_000)
  // two searches of both ends
  expect(network.sent.length - before).toBeLessThan(150)
})

describe('the addresses that guests are told', () => {
  const told = ({ paths }: SimMember) =>
    paths.candidates().map(({ endpoint, kind }) => [kind, endpoint.address])

  test('are the own ones of now, at once after the machine moved', async () => {
    const { network, a } = await direct()
    expect(told(a)).toEqual([['own', '5.5.5.1']])
    a.nat.move('5.5.5.99')
    expect(told(a)).toEqual([['own', '5.5.5.99']])
    await network.run(90_000)
    expect(told(a)).toEqual([['own', '5.5.5.99']])
  })

  test('are those of the NAT as it is seen now, the latest word first', async () => {
    const { network, a } = await direct(['port-restricted', 'full-cone'])
    expect(told(a)).toEqual([
      ['own', '192.168.1.2'],
      ['seen', '5.5.5.1'],
    ])
    // those hear of the node no more, and would say for ever what they said last
    for (const open of network.members.slice(2)) network.block(a, open)
    a.nat.move('5.5.5.0')
    await network.run(10_000)
    expect(told(a)[1]).toEqual(['seen', '5.5.5.0'])
    await network.run(70_000)
    expect(told(a)).toEqual([
      ['own', '192.168.1.2'],
      ['seen', '5.5.5.0'],
    ])
  })
})

describe('a path in use', () => {
  test('is measured when somebody asks, and an answer of before is none', async () => {
    const { network, a, b } = await direct()
    const { signal } = new AbortController()
    const measuring = a.paths.measure(b.id, signal)
    await network.run(100)
    expect(await measuring).toBe(40)
    network.block(b, a)
    const failing = a.paths.measure(b.id, signal)
    await network.run(5_000)
    expect(await failing).toBeUndefined()
  })

  test('one lost probe lets packets go both ways, and the next answer ends that', async () => {
    const { network, a, b } = await direct()
    network.block(a, b)
    const suspectMs = await network.until(() => a.paths.pathOf(b.id)?.alsoStream === true, 3_000)
    expect(suspectMs).toBeLessThan(1_500)
    network.blocked.clear()
    await network.run(1_000)
    expect(isDirect(a, b)).toBe(true)
    expect((a.changes.get(b.id) ?? []).every(({ path }) => path !== undefined)).toBe(true)
  })

  test('answers that a busy process has not taken yet are not taken for lost', async () => {
    const { network, a, b } = await direct()
    await network.run(5_000)
    const changes = a.changes.get(b.id)?.length
    network.busy.add(a)
    await network.run(20_000)
    expect(a.changes.get(b.id)?.length).toBe(changes)
  })

  test.each(['both directions', 'one direction'])(
    'cut in %s it is left within 3 s, and taken again',
    async (which) => {
      const { network, a, b } = await direct(['port-restricted', 'port-restricted'])
      network.block(a, b)
      if (which === 'both directions') network.block(b, a)
      for (const [one, other] of [
        [a, b],
        [b, a],
      ] as const) {
        expect(await network.until(() => one.paths.pathOf(other.id) === undefined, 3_000)).toBeLessThan(3_000)
      }
      const changes = [a, b].map((one) => one.changes.get(one === a ? b.id : a.id)?.length)
      await network.run(120_000)
      // it does not flap meanwhile
      expect([a, b].map((one) => one.changes.get(one === a ? b.id : a.id)?.length)).toEqual(changes)
      network.blocked.clear()
      expect(await network.until(() => isDirect(a, b), 6_000)).toBeLessThan(6_000)
    },
  )

  test('cut on all its addresses says so, though others than the one in use were heard before', async () => {
    const network = networkOf()
    const [a, b] = [network.add('a', 'open'), network.add('b', 'open')]
    b.others.set('7.7.7.7' as never, 5)
    network.join(a, b)
    await network.run(10_000)
    network.block(a, b)
    network.block(b, a)
    await network.run(15_000)
    expect([a.paths.status(b.id).reason, b.paths.status(a.id).reason]).toEqual(['blocked', 'blocked'])
    expect(a.paths.status(b.id).candidates.map(({ isHeard }) => isHeard)).toEqual([false, false])
    // nor does it change while the search is repeated
    const reasons = new Set<string | undefined>()
    for (let second = 0; second < 90; second++) {
      await network.run(1_000)
      reasons.add(a.paths.status(b.id).reason)
    }
    expect([...reasons]).toEqual(['blocked'])
    network.blocked.delete('a b')
    await network.run(60_000)
    expect([a.paths.status(b.id).reason, b.paths.status(a.id).reason]).toEqual(['blocked', 'one-way'])
  })

  test('a wire that lets one direction through never becomes a path, and says so', async () => {
    const network = networkOf()
    const [a, b] = [network.add('a', 'open'), network.add('b', 'open')]
    network.block(a, b)
    network.join(a, b)
    await network.run(60_000)
    expect([...(a.changes.get(b.id) ?? []), ...(b.changes.get(a.id) ?? [])]).toEqual([])
    const reasons = () => [a.paths.status(b.id).reason, b.paths.status(a.id).reason]
    expect(reasons()).toEqual(['one-way', 'blocked'])
    await network.run(300_000)
    expect(reasons()).toEqual(['one-way', 'blocked'])
    // nor does it go on to say so when the other direction is shut, too
    network.block(b, a)
    await network.run(120_000)
    expect(reasons()).toEqual(['blocked', 'blocked'])
  })

  test('is left for one that is clearly better, not for one that is a little', async () => {
    const network = networkOf()
    const [a, b] = [network.add('a', 'open'), network.add('b', 'open')]
    b.others.set('7.7.7.7' as never, 1)
    network.join(a, b)
    await network.run(5_000)
    const first = a.paths.pathOf(b.id)?.endpoint.address
    expect(first).toBe(b.nat.ip)
    b.others.set('7.7.7.7' as never, -2)
    await network.run(120_000)
    expect(a.paths.pathOf(b.id)?.endpoint.address).toBe(first)
    b.others.set('7.7.7.7' as never, -15)
    await network.run(120_000)
    expect(a.paths.pathOf(b.id)?.endpoint.address).toBe('7.7.7.7')
    expect(a.changes.get(b.id)?.length).toBeLessThan(4)
  })

  test.each([
    [1_472, 1_500, 1_440],
    [1_400, 1_420, 1_340],
    [1_400, 1_280, 1_280],
    [9_000, 8_900, 8_900],
  ])('on wires that pass %i bytes packets of %i get an MTU of %i', async (wireBytes, wanted, mtu) => {
    const network = networkOf()
    network.wireBytes = wireBytes
    const [a, b] = [network.add('a', 'open'), network.add('b', 'open')]
    network.join(a, b, wanted)
    expect(await network.until(() => isDirect(a, b), 30_000)).toBeLessThan(30_000)
    expect([a.paths.pathOf(b.id)?.mtu, b.paths.pathOf(a.id)?.mtu]).toEqual([mtu, mtu])
  })

  test('that takes only shorter packets from now on is left, and its MTU found anew', async () => {
    const network = networkOf()
    const [a, b] = [network.add('a', 'open'), network.add('b', 'open')]
    network.join(a, b, 1_420)
    await network.run(3_000)
    expect(a.paths.pathOf(b.id)?.mtu).toBe(1_420)
    network.wireBytes = 1_400
    expect(await network.until(() => a.paths.pathOf(b.id) === undefined, 3_000)).toBeLessThan(3_000)
    expect(await network.until(() => isDirect(a, b), 30_000)).toBeLessThan(30_000)
    expect(a.paths.pathOf(b.id)?.mtu).toBe(1_340)
  })

  test('that takes longer packets again is found out while packets pass, ever more seldom, and loses nothing meanwhile', async () => {
    const network = networkOf()
    network.wireBytes = 1_472
    const [a, b] = [network.add('a', 'open'), network.add('b', 'open')]
    network.join(a, b, 8_900)
    expect(await network.until(() => isDirect(a, b), 30_000)).toBeLessThan(30_000)
    const [changes, sent] = [a.changes.get(b.id)?.length, network.sent.length]
    await network.run(3 * 3_600_000)
    expect(a.changes.get(b.id)?.length).toBe(changes)
    const isLong = ({ bytes }: { readonly bytes: Uint8Array }) => bytes.length > network.wireBytes
    const tried = network.sent.slice(sent).filter(isLong).length / 2
    // four probes each time
    expect(tried / 4).toBeGreaterThan(18)
    expect(tried / 4).toBeLessThan(24)
    network.wireBytes = 9_000
    const mtus = () => [a.paths.pathOf(b.id)?.mtu, b.paths.pathOf(a.id)?.mtu]
    expect(await network.until(() => mtus().every((mtu) => mtu === 8_900), 600_000)).toBeLessThan(600_000)
    // one that has just become narrow is tried soon
    network.wireBytes = 1_472
    await network.until(() => isDirect(a, b) && mtus().every((mtu) => mtu === 1_440), 30_000)
    expect(mtus()).toEqual([1_440, 1_440])
    network.wireBytes = 4_100
    expect(await network.until(() => mtus().every((mtu) => mtu === 4_000), 35_000)).toBeLessThan(35_000)
  })

  test('wires too thin for IPv6 are no path, and say so', async () => {
    const network = networkOf()
    network.wireBytes = 1_250
    const [a, b] = [network.add('a', 'open'), network.add('b', 'open')]
    network.join(a, b)
    await network.run(10_000)
    expect(isDirect(a, b)).toBe(false)
    expect(a.paths.status(b.id).reason).toBe('too-small')
  })

  test('a way that takes more than a second there and back is none, and says so as long as it answers', async () => {
    const network = networkOf()
    network.delayMs = 650
    const [a, b] = [network.add('a', 'open'), network.add('b', 'port-restricted')]
    network.join(a, b)
    const reasons = () => [a.paths.status(b.id).reason, b.paths.status(a.id).reason]
    await network.run(10_000)
    expect(reasons()).toEqual(['too-slow', 'too-slow'])
    network.block(a, b)
    network.block(b, a)
    await network.run(100_000)
    expect(reasons()).not.toContain('too-slow')
    network.blocked.clear()
    network.delayMs = 300
    expect(await network.until(() => isDirect(a, b), 40_000)).toBeLessThan(40_000)
  })

  test('is probed seldom while no packets pass, then let go, and found again at once', async () => {
    const network = networkOf()
    const [a, b] = [network.add('a', 'open'), network.add('b', 'open')]
    // others are kept for the sake of being seen
    for (const name of ['c', 'd', 'e']) network.join(a, network.add(name, 'open'))
    await network.run(3_000)
    network.join(a, b)
    await network.run(3_000)
    for (const one of network.members) one.active.clear()
    await network.run(60_000)
    const before = network.sent.length
    await network.run(60_000)
    expect(network.sent.length - before).toBeLessThan(100)
    await network.run(10 * 60_000)
    expect(a.paths.pathOf(b.id)).toBeUndefined()
    a.active.add(b.id)
    b.active.add(a.id)
    expect(await network.until(() => isDirect(a, b), 3_000)).toBeLessThan(3_000)
  })
})

describe('while no packets pass', () => {
  /** How many probes a minute go between two members that have nothing to say to each other. */
  async function idleProbes(kinds: readonly [NatKind, NatKind]) {
    const { network, a, b } = await direct(kinds)
    a.active.clear()
    b.active.clear()
    await network.run(30_000)
    const before = network.sent.length
    await network.run(60_000)
    return { network, a, b, probes: network.sent.length - before }
  }

  test('a path is kept alive where a NAT would forget it, and nowhere else', async () => {
    expect((await idleProbes(['open', 'open'])).probes).toBe(0)
    const natted = await idleProbes(['port-restricted', 'open'])
    expect(natted.probes).toBeGreaterThan(6)
    expect(isDirect(natted.a, natted.b)).toBe(true)
  })

  test('a NAT that restarted meanwhile holds up the first ones for a second, and what is answered for another', async () => {
    const { network, a, b } = await idleProbes(['port-restricted', 'port-restricted'])
    a.nat.move('5.5.5.99')
    a.active.add(b.id)
    expect(network.passes(a, b)).toBe(false)
    expect(await network.until(() => network.passes(a, b), 1_000)).toBeLessThan(1_000)
    expect(await network.until(() => network.passes(b, a), 1_000)).toBeLessThan(1_000)
    expect(await network.until(() => isDirect(a, b) && network.passes(b, a), 1_000)).toBeLessThan(1_000)
  })

  test('the first ones after a long silence go both ways, until the path has answered', async () => {
    const { network, a, b } = await idleProbes(['open', 'open'])
    expect(isDirect(a, b)).toBe(true)
    a.active.add(b.id)
    expect(await network.until(() => a.paths.pathOf(b.id)?.alsoStream === true, 600)).toBeLessThan(600)
    expect(await network.until(() => isDirect(a, b), 300)).toBeLessThan(300)
  })
})

test('a member with 50 peers finds a path to each, and keeps all of them', async () => {
  const network = networkOf()
  const hub = network.add('hub', 'port-restricted')
  const peers = Array.from({ length: 50 }, (_, at) =>
    network.add(`p${at}`, at % 3 === 0 ? 'port-restricted' : 'open'),
  )
  const witness = network.add('witness', 'open')
  for (const each of [hub, ...peers]) network.join(each, witness)
  await network.run(3_000)
  for (const peer of peers) network.join(hub, peer)
  expect(await network.until(() => peers.every((peer) => isDirect(hub, peer)), 10_000)).toBeLessThan(10_000)
  await network.run(20_000)
  expect(peers.every((peer) => isDirect(hub, peer))).toBe(true)
  const before = network.sent.length
  await network.run(1_000)
  // a probe and its answer, from both ends, every 0.7 s
  expect(network.sent.length - before).toBeLessThan(101 * 8)
})

test('a member that others see at many ports tells its addresses seldom', async () => {
  const network = networkOf()
  const a = network.add('a', 'symmetric')
  const b = network.add('b', 'open')
  for (let n = 0; n < 12; n++) network.join(a, network.add(`r${n}`, 'open'))
  network.join(a, b)
  const told = () => network.told.filter((each) => each === `a ${b.id}`).length
  await network.run(60_000)
  expect(told()).toBeLessThan(25)
  const before = told()
  await network.run(120_000)
  expect(told() - before).toBeLessThan(3)
})

describe('what strangers send', () => {
  test('changes nothing: probes of others, replayed ones, changed ones, random bytes', async () => {
    const { network, a, b } = await direct()
    const kept = a.paths.pathOf(b.id)
    const stranger = { address: '6.6.6.6' as never, port: 666 }
    const toA = network.sent.filter(({ to }) => to.address === a.nat.ip).slice(-20)
    await network.run(2_000)
    for (const { bytes } of toA) {
      network.inject(a, stranger, bytes)
      for (let at = 0; at < 57; at += 3) {
        const changed = Uint8Array.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ 1
        network.inject(a, stranger, changed)
        network.inject(a, stranger, bytes.slice(0, at))
      }
    }
    await network.run(5_000)
    expect(a.paths.pathOf(b.id)).toEqual(kept)
    expect(isDirect(a, b)).toBe(true)
  })

  test('probes sent again from everywhere leave a path in use its answers', async () => {
    const { network, a, b } = await direct()
    await network.run(10_000)
    const kept = a.paths.pathOf(b.id)
    const isQuestion = ({ to, bytes }: { readonly to: Endpoint; readonly bytes: Uint8Array }) =>
      to.address === a.nat.ip && bytes[3] === 1
    const overheard = network.sent.filter(isQuestion)
    expect(overheard.length).toBeGreaterThan(5)
    let sources = 0
    for (let at = 0; at < 20_000; at += 100) {
      for (const { bytes } of overheard.slice(0, 20)) {
        const source = sources++ % 60_000
        const address = `7.7.${source >> 8}.${source & 255}` as IpAddress
        network.inject(a, { address, port: 666 }, bytes)
      }
      await network.run(100)
      expect(a.paths.pathOf(b.id)).toEqual(kept)
      expect(isDirect(b, a)).toBe(true)
    }
  })

  test('probes that arrive first from other ports of the address in use, by who is faster, leave the path as it is', async () => {
    const { network, a, b } = await direct()
    Object.assign(network, { delayMs: 150, loss: 0.03 })
    await network.run(10_000)
    let [sent, port, doubted] = [network.sent.length, 10_000, 0]
    for (let ms = 0; ms < 60_000; ms += 20) {
      await network.run(20)
      for (const { from, to, bytes } of network.sent.slice(sent)) {
        const copies = bytes[3] === 1 ? 4 : 0
        const receiver = to.address === a.nat.ip ? a : b
        for (let copy = 0; copy < copies; copy++)
          network.inject(receiver, { address: from.address, port: port++ }, bytes)
      }
      sent = network.sent.length
      if (!isDirect(a, b)) doubted++
    }
    expect(port).toBeGreaterThan(10_500)
    // a probe that is lost, now and then
    expect(doubted).toBeLessThan(3_000 * 0.05)
  })

  test('the engine knows where each peer says that it is, whose probes no copies from elsewhere hold up', async () => {
    const { network, a, b } = await direct()
    const told = () =>
      [...a.expected.values()].flatMap(({ endpoints }) => endpoints.map(({ address }) => address))
    expect(told()).toContain(b.nat.ip)
    expect(told()).not.toContain('6.6.6.6')
    b.others.set('6.6.6.6' as IpAddress, 0)
    await network.run(5_000)
    expect(told()).toContain('6.6.6.6')
    const { size } = a.expected
    a.paths.forget(b.id)
    expect(a.expected.size).toBe(size - 1)
    expect(told()).not.toContain(b.nat.ip)
  })

  test('a probe that came through the VPN itself proves no way', async () => {
    const { network, a, b } = await direct()
    const inside = { address: '10.1.0.2' as never, port: 4_700 }
    a.vpnRanges.push('10.1.0.0/24' as never)
    const [probe] = network.sent.filter(({ to }) => to.address === a.nat.ip).slice(-1)
    const answered = () => network.sent.filter(({ to }) => to.address === inside.address).length
    network.inject(a, inside, probe?.bytes ?? new Uint8Array())
    await network.run(3_000)
    expect(answered()).toBe(0)
    expect(a.paths.status(b.id).candidates.map(({ endpoint }) => endpoint.address)).not.toContain('10.1.0.2')
  })

  test('a peer that left is not answered', async () => {
    const { network, a, b } = await direct()
    b.paths.forget(a.id)
    await network.run(500)
    const before = network.sent.filter(({ from }) => from.address === b.nat.ip).length
    await network.run(10_000)
    expect(network.sent.filter(({ from }) => from.address === b.nat.ip).length).toBe(before)
    expect(a.paths.pathOf(b.id)).toBeUndefined()
  })
})

test('a peer that leaves the table has no path from then on, and that is told', async () => {
  const { network, a, b } = await direct()
  const before = a.changes.get(b.id)?.length ?? 0
  a.paths.forget(b.id)
  expect(a.changes.get(b.id)?.slice(before)).toMatchObject([{ path: undefined }])
  expect(a.paths.status(b.id)).toMatchObject({ state: 'none', candidates: [] })
  a.paths.forget(b.id)
  await network.run(1_000)
  expect(a.changes.get(b.id)).toHaveLength(before + 1)
})
