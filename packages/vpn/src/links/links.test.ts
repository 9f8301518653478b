/** Machines in memory, as stories: all real but the network and the devices. */
import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '@mesh/testkit'
import { openMemoryEngine } from '@mesh/engine/testing'
import { PACKETS_PROTOCOL, PLAIN_PROTOCOL, VPN_PROTOCOL } from './limits.ts'
import {
  addressOf,
  type MemoryMachine,
  type MemoryMachineInit,
  openMachine,
  peerOf,
} from './testing/memory-machine.ts'
import { createMemoryNetwork, type MemoryNetwork } from './testing/memory-network.ts'
import { readAll } from './testing/memory-stream.ts'
import { markOf, packet } from './testing/packet.ts'

const whyNoAddon = reasonAgainstAddon()
const opened: MemoryMachine[] = []

afterEach(() => {
  for (const machine of opened.splice(0)) machine.stop()
})

describe.skipIf(whyNoAddon !== undefined)(`machines in memory${because(whyNoAddon)}`, () => {
  it('loses not even the first packet to a peer that nobody has looked for', async () => {
    const { a, b } = await two()
    expect(a.links.status(b.peer)).toMatchObject({ way: 'unknown', path: undefined, mtu: 1280 })
    send(a, b, 1)
    send(a, b, 2)
    expect(await received(b, 2)).toEqual([1, 2])
    send(b, a, 3)
    expect(await received(a, 1)).toEqual([3])
    expect(a.links.status(b.peer)).toMatchObject({
      way: 'sealed',
      path: { path: 'direct' },
      streams: { outboundDirect: true, inboundDirect: true },
      lastError: undefined,
    })
    expect(a.links.status(b.peer).sessionSince).toBeGreaterThan(0)
    expect(drops(a, b)).toEqual({})
    expect(drops(b, a)).toEqual({})
  })

  it('carries IPv6, and both directions begun at once', async () => {
    const { a, b } = await two()
    a.engine.device.send(packet('fd00::1', 'fd00::2', 900, 7))
    b.engine.device.send(packet('fd00::2', 'fd00::1', 900, 8))
    expect(await received(b, 1)).toEqual([7])
    expect(await received(a, 1)).toEqual([8])
  })

  it('keeps one control channel with every member that connects, and no streams without packets', async () => {
    const { network, a, b } = await two()
    network.connect(a.peer, b.peer)
    await eventually(() => {
      expect(a.links.status(b.peer).way).toBe('sealed')
      expect(b.links.status(a.peer).way).toBe('sealed')
    })
    const live = network.opened.filter(({ pair }) => !pair.ended)
    expect(live.map(({ protocol }) => protocol)).toEqual([VPN_PROTOCOL])
    send(a, b, 1)
    expect(await received(b, 1)).toEqual([1])
  })

  it('lets three machines talk, each with each', async () => {
    const network = createMemoryNetwork()
    const machines = await Promise.all([1, 2, 3].map((number) => open(network, { number, peers: [1, 2, 3] })))
    for (const from of machines) for (const to of machines) if (from !== to) send(from, to, numberOf(from))
    for (const to of machines) {
      const others = machines.filter((from) => from !== to).map(numberOf)
      expect(new Set(await received(to, 2))).toEqual(new Set(others))
    }
  })

  it('goes over a relay, and moves to the direct connection without losing a packet', async () => {
    const { network, a, b } = await two()
    network.setReach(a.peer, b.peer, 'relayed')
    send(a, b, 1)
    await received(b, 1)
    expect(a.links.status(b.peer)).toMatchObject({
      way: 'sealed',
      path: { path: 'relayed' },
      streams: { outboundDirect: false },
    })
    const marks: number[] = []
    for (let mark = 2; mark <= 200; mark++) {
      send(a, b, mark)
      if (mark === 100) network.connect(a.peer, b.peer, 'direct')
      if (mark % 10 === 0) await turn()
    }
    await eventually(() => {
      marks.push(...b.received().map(markOf))
      expect(marks).toHaveLength(199)
    })
    expect(a.links.status(b.peer).streams.outboundDirect).toBe(true)
    expect(b.links.status(a.peer).streams.inboundDirect).toBe(true)
    expect(drops(b, a)).toEqual({})
    await eventually(() => {
      const live = network.opened.filter(({ pair, protocol }) => !pair.ended && protocol === PACKETS_PROTOCOL)
      expect(live.map(({ pair }) => pair.near.direct)).toEqual([true, true])
    })
  })

  it('goes on with the same session when the connection was lost', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    send(b, a, 1)
    await received(a, 1)
    const session = a.links.status(b.peer).sessionSince
    network.disconnect(a.peer, b.peer)
    await eventually(() => expect(a.links.status(b.peer).streams.outboundDirect).toBeUndefined())
    expect(a.links.status(b.peer)).toMatchObject({ way: 'sealed', path: undefined })
    send(a, b, 2)
    expect(await received(b, 1)).toEqual([2])
    send(b, a, 3)
    expect(await received(a, 1)).toEqual([3])
    expect(a.links.status(b.peer).sessionSince).toBe(session)
  })

  it('needs a moment only when a peer restarts with another key', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    const before = a.links.wayOf(b.peer)
    b.stop()
    network.disconnect(a.peer, b.peer)
    network.setReach(a.peer, b.peer, undefined)
    send(a, b, 2)
    await eventually(() => expect(a.links.status(b.peer).lastError?.message).toMatch(/cannot be reached/))
    network.setReach(a.peer, b.peer, 'direct')
    const again = await open(network, { number: 2, peers: [1] })
    const begun = performance.now()
    send(again, a, 3)
    expect(await received(a, 1)).toEqual([3])
    expect(a.links.wayOf(b.peer)).not.toEqual(before)
    send(a, again, 4)
    // WireGuard alone would try again after 5 s
    await eventually(() => expect(again.received().map(markOf)).toContain(4), { withinMs: 2000 })
    expect(performance.now() - begun).toBeLessThan(4000)
  })

  it('takes packets of a machine whose entry comes after its packets', async () => {
    const network = createMemoryNetwork()
    const a = await open(network, { number: 1, peers: [2] })
    const b = await open(network, { number: 2, peers: [] })
    send(a, b, 1)
    await eventually(() => expect(a.links.status(b.peer).streams.outboundDirect).toBe(true))
    expect(b.links.status(a.peer).way).toBe('unknown')
    b.setPeers([1])
    expect(await received(b, 1)).toEqual([1])
  })

  it('ends all when a machine leaves the table, and begins anew when it is back', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    b.setPeers([])
    await eventually(() => {
      const live = network.opened.filter(({ pair, protocol }) => !pair.ended && protocol === PACKETS_PROTOCOL)
      expect(live).toEqual([])
    })
    b.setPeers([1])
    // it forgot the session, so the first ones are lost
    await untilReceived(b, 2, () => send(a, b, 2))
  })

  it('counts a source that is not the peer’s', async () => {
    const { a, b } = await two()
    a.engine.device.send(packet('10.1.0.77', addressOf(2), 50))
    send(a, b, 5)
    expect(await received(b, 1)).toEqual([5])
    expect(drops(b, a)).toEqual({ spoofedSource: 1 })
  })

  it('resets a stream of garbage, counts it, and takes the next one', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    const stream = await a.member.network.streams.open(b.peer, PACKETS_PROTOCOL, {
      from: 'proven',
      relayed: true,
    })
    const ended = new Promise((resolve) => stream.onEnd(resolve))
    stream.send(new Uint8Array(1000))
    expect(await ended).toBeInstanceOf(Error)
    expect(b.links.refusals()).toEqual({ 'packets.broken': 1 })
    expect(drops(b, a)).toMatchObject({ badFrame: 1 })
    send(a, b, 2)
    expect(await received(b, 1)).toEqual([2])
    expect(network.opened.length).toBeLessThan(8)
  })

  it('does not let a peer wear it out with new streams', async () => {
    const { a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    for (let count = 0; count < 60; count++) {
      const stream = await a.member.network.streams.open(b.peer, PACKETS_PROTOCOL, {
        from: 'proven',
        relayed: true,
      })
      await turn()
      stream.send(Uint8Array.of(0, 1))
      await turn()
    }
    await eventually(() => expect(b.links.refusals()['packets.too_many']).toBeGreaterThan(20))
  })

  it('lets a peer that does not read hold up nobody, in bounded memory', async () => {
    const network = createMemoryNetwork()
    const [a, b, c] = await Promise.all(
      [1, 2, 3].map((number) => open(network, { number, peers: [1, 2, 3] })),
    )
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were opened')
    send(a, b, 1)
    send(a, c, 1)
    await Promise.all([received(b, 1), received(c, 1)])
    const toB = network.opened.findLast(({ to, protocol }) => to === b.peer && protocol === PACKETS_PROTOCOL)
    toB?.pair.far.onBytes(() => {})
    toB?.pair.far.pause()
    for (let sent = 0; sent < 2000; sent++) {
      a.engine.device.send(packet(addressOf(1), addressOf(2), 1200))
      if (sent % 50 === 0) await turn()
    }
    await eventually(() => expect(drops(a, b)).toMatchObject({ carryFull: expect.any(Number) }))
    expect(toB?.pair.mostBytes).toBeLessThan(256 * 1024 + 69 * 1024)
    send(a, c, 2)
    expect(await received(c, 1)).toEqual([2])
    toB?.pair.far.abort(new Error('enough'))
    await untilReceived(b, 3, () => send(a, b, 3))
  })

  it('slows down a peer that floods, instead of dropping or growing', async () => {
    const { network, a, b } = await two()
    send(a, b, 0)
    await received(b, 1)
    let got = 0
    for (let sent = 0; sent < 3000; sent++) {
      while (!a.engine.device.send(packet(addressOf(1), addressOf(2), 1200))) await turn()
      if (sent % 20 === 0) await turn()
      got += b.received().length
    }
    await eventually(() => {
      got += b.received().length
      // the kernel may not read as fast as this test writes, either
      expect(got + (drops(a, b).carryFull ?? 0) + (drops(b, a).deviceRefused ?? 0)).toBe(3000)
    })
    expect(Object.keys(drops(b, a)).filter((reason) => reason !== 'deviceRefused')).toEqual([])
    const most = network.opened.map(({ pair }) => pair.mostBytes)
    expect(Math.max(...most)).toBeLessThan(256 * 1024 + 69 * 1024)
  })

  it('looks for a thousand peers at once with a few dials at a time', async () => {
    const network = createMemoryNetwork()
    const numbers = Array.from({ length: 1000 }, (_, at) => at + 2)
    const a = await open(network, { number: 1, peers: numbers })
    for (const number of numbers) {
      while (!a.engine.device.send(packet(addressOf(1), addressOf(number), 20))) await turn()
    }
    const peers = numbers.map(peerOf)
    await eventually(
      () => expect(peers.filter((peer) => a.links.status(peer).lastError === undefined)).toEqual([]),
      { withinMs: 20_000, everyMs: 200 },
    )
    expect(network.mostDials).toBe(32)
  })

  it('does not take a key that another peer holds', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    const thief = network.join(peerOf(9))
    const channel = await thief.network.channels.open(a.peer, VPN_PROTOCOL, { maxMessageBytes: 4096 })
    const { encodeHello } = await import('./control-message.ts')
    await channel.send(encodeHello({ publicKey: b.engine.publicKey, nonce: new Uint8Array(32), mtu: 1280 }))
    await expect(readAll(channel)).rejects.toThrow('reset')
    expect(a.links.refusals()).toEqual({ 'key.held_by_another': 1 })
    send(a, b, 2)
    expect(await received(b, 1)).toEqual([2])
  })

  it('asks a peer that does not answer for its key again, on a stream of its own', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    const before = network.opened.length
    a.links.engineEvent({ type: 'silent', peer: b.peer })
    expect(a.links.status(b.peer)).toMatchObject({ way: 'sealed', sessionSince: undefined })
    await eventually(() => {
      const opened = network.opened.slice(before).map(({ protocol }) => protocol)
      expect(opened).toContain(VPN_PROTOCOL)
      const live = network.opened.filter(({ pair, protocol }) => !pair.ended && protocol === VPN_PROTOCOL)
      expect(live).toHaveLength(1)
    })
    send(a, b, 2)
    expect(await received(b, 1)).toEqual([2])
  })

  it('says how a peer is reached', async () => {
    const { network, a, b } = await two()
    network.setReach(a.peer, b.peer, 'relayed')
    const never = new AbortController().signal
    expect(await a.links.probe(b.peer, never)).toEqual({
      path: 'relayed',
      transport: 'memory',
      rttMs: 1,
      mtu: 1280,
    })
    network.disconnect(a.peer, b.peer)
    network.setReach(a.peer, b.peer, undefined)
    await expect(a.links.probe(b.peer, never)).rejects.toMatchObject({ code: 'p2p.unreachable' })
  })

  it('leaves nothing open when it stops', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    a.stop()
    a.stop()
    await eventually(() => expect(network.opened.filter(({ pair }) => !pair.ended)).toEqual([]))
  })
})

describe.skipIf(whyNoAddon !== undefined)(`members of older networks${because(whyNoAddon)}`, () => {
  it('get each packet on a stream of its own, and theirs are taken from such', async () => {
    const { network, a, older, theirs } = await withOlder()
    for (const mark of [1, 2, 3]) send(a, older, mark)
    await eventually(() => expect(theirs.map(markOf)).toEqual([1, 2, 3]))
    expect(a.links.status(older.peer)).toMatchObject({ way: 'plain', mtu: 1200, path: { path: 'direct' } })
    expect(network.opened.filter(({ protocol }) => protocol === PLAIN_PROTOCOL)).toHaveLength(3)
    await older.send([packet(addressOf(2), addressOf(1), 300, 4)])
    expect(await received(a, 1)).toEqual([4])
  })

  it('may begin, and the first packet is not lost', async () => {
    const { a, older } = await withOlder()
    const [first, second] = [5, 6].map((mark) => packet(addressOf(2), addressOf(1), 300, mark))
    await older.send([first?.subarray(0, 3), first?.subarray(3), second])
    expect(await received(a, 2)).toEqual([5, 6])
  })

  it('are filtered like all others, and refused what is no packet', async () => {
    const { a, older } = await withOlder()
    await older.send([packet('10.1.0.9', addressOf(1), 20)])
    await older.send([Uint8Array.of(0xff, 1, 2, 3)])
    await older.send([packet(addressOf(2), addressOf(1), 200).subarray(0, 100)])
    const long = packet(addressOf(2), addressOf(1), 30_000)
    await older.send([long, long, long])
    await eventually(() => {
      expect(drops(a, older)).toEqual({ spoofedSource: 1 })
      expect(a.links.refusals()).toEqual({
        'plain.bad_packet': 1,
        'plain.unfinished': 1,
        'plain.too_long': 1,
      })
    })
  })

  it('get no more streams at a time than 64, and nothing over a relay', async () => {
    const { network, a, older, theirs } = await withOlder()
    const live = () =>
      network.opened.filter(({ protocol, pair }) => protocol === PLAIN_PROTOCOL && !pair.ended).length
    let most = 0
    for (let mark = 1; mark <= 150; mark++) send(a, older, mark)
    await eventually(
      () => {
        most = Math.max(most, live())
        expect(theirs).toHaveLength(150)
      },
      { everyMs: 1 },
    )
    expect(most).toBeLessThanOrEqual(64)
    network.disconnect(a.peer, older.peer)
    network.setReach(a.peer, older.peer, 'relayed')
    const before = network.opened.length
    send(a, older, 999)
    await eventually(() => expect(a.links.status(older.peer).lastError?.message).toMatch(/no direct/))
    expect(network.opened).toHaveLength(before)
    network.connect(a.peer, older.peer, 'direct')
    await eventually(() => expect(theirs.map(markOf)).toContain(999))
  })

  it('are refused when they are not in the table, or this node wants none', async () => {
    const { a, older } = await withOlder()
    a.setPeers([])
    await older.send([packet(addressOf(2), addressOf(1), 20)])
    await eventually(() => expect(a.links.refusals()).toEqual({ 'plain.not_in_table': 1 }))
    const network = createMemoryNetwork()
    const strict = await open(network, { number: 1, peers: [2], plain: false })
    joinOlder(network)
    send(strict, { peer: peerOf(2) }, 1)
    await eventually(() =>
      expect(strict.links.status(peerOf(2)).lastError).toMatchObject({ code: 'vpn.no_common_protocol' }),
    )
    expect(strict.links.wayOf(peerOf(2))).toEqual({ kind: 'unknown' })
  })

  it('become sealed when they are updated, and get nothing unsealed from then on', async () => {
    const { network, a, older, theirs } = await withOlder()
    send(a, older, 1)
    await eventually(() => expect(theirs).toHaveLength(1))
    network.disconnect(a.peer, older.peer)
    const newer = await open(network, { number: 2, peers: [1] })
    // what was to go unsealed is dropped
    await untilReceived(newer, 2, () => send(a, newer, 2))
    expect(a.links.status(newer.peer).way).toBe('sealed')
    expect(theirs).toHaveLength(1)
  })

  it('are not taken for one while a channel stands, but for an older node in a newer one’s place', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    const stream = await b.member.network.streams.open(a.peer, PLAIN_PROTOCOL, {
      from: 'heard',
      relayed: false,
    })
    stream.send(packet(addressOf(2), addressOf(1), 20))
    await eventually(() => expect(a.links.refusals()).toEqual({ 'plain.sealed_peer': 1 }))
    b.member.unhandle(VPN_PROTOCOL, PACKETS_PROTOCOL)
    await b.member.network.streams.open(a.peer, PLAIN_PROTOCOL, { from: 'heard', relayed: false })
    await eventually(() => expect(a.links.refusals()).toEqual({ 'plain.sealed_peer': 2 }))
    b.stop()
    network.disconnect(a.peer, b.peer)
    const { theirs } = joinOlder(network)
    send(a, b, 7)
    await eventually(() => {
      expect(a.links.status(b.peer).way).toBe('plain')
      send(a, b, 8)
      expect(theirs.map(markOf)).toContain(8)
    })
  })
})

async function open(network: MemoryNetwork, init: MemoryMachineInit): Promise<MemoryMachine> {
  const machine = await openMachine(network, init)
  opened.push(machine)
  return machine
}

async function two() {
  const network = createMemoryNetwork()
  const a = await open(network, { number: 1, peers: [2] })
  const b = await open(network, { number: 2, peers: [1] })
  return { network, a, b }
}

async function withOlder() {
  const network = createMemoryNetwork()
  const a = await open(network, { number: 1, peers: [2] })
  return { network, a, ...joinOlder(network) }
}

/** Machine 2 as an older node: what its kernel gets is in `theirs`. */
function joinOlder(network: MemoryNetwork) {
  const { network: own } = network.join(peerOf(2))
  const theirs: Uint8Array[] = []
  void own.streams.handle(PLAIN_PROTOCOL, { from: 'heard', maxPerPeer: 1024, relayed: false }, (stream) =>
    stream.onBytes((bytes) => theirs.push(Uint8Array.from(bytes))),
  )
  const older = {
    peer: peerOf(2),
    /** One stream with these chunks. */
    async send(chunks: readonly (Uint8Array | undefined)[]) {
      const options = { from: 'heard', relayed: false } as const
      const stream = await own.streams.open(peerOf(1), PLAIN_PROTOCOL, options)
      const ended = new Promise((resolve) => stream.onEnd(resolve))
      for (const chunk of chunks) if (chunk !== undefined) stream.send(chunk)
      stream.close()
      await ended
    },
  }
  return { older, theirs }
}

function send(from: MemoryMachine, to: { readonly peer: string }, mark: number): void {
  const destination = [1, 2, 3].find((number) => peerOf(number) === to.peer) ?? 0
  from.engine.device.send(packet(addressOf(numberOf(from)), addressOf(destination), 100, mark))
}

function numberOf(machine: MemoryMachine): number {
  return [1, 2, 3].find((number) => peerOf(number) === machine.peer) ?? 0
}

/** The marks of what came, as soon as there are so many. */
async function received(machine: MemoryMachine, count: number): Promise<number[]> {
  const marks: number[] = []
  await eventually(
    () => {
      marks.push(...machine.received().map(markOf))
      expect(marks.length).toBeGreaterThanOrEqual(count)
    },
    { withinMs: 10_000 },
  )
  return marks
}

/** Sends again and again until the machine's kernel has got one with the mark. */
function untilReceived(machine: MemoryMachine, mark: number, sendOne: () => void): Promise<void> {
  return eventually(
    () => {
      sendOne()
      expect(machine.received().map(markOf)).toContain(mark)
    },
    { withinMs: 12_000, everyMs: 100 },
  )
}

function drops(machine: MemoryMachine, from: { readonly peer: string }) {
  const found = [...machine.engine.stats().peers].find(([peer]) => peer === from.peer)
  return found?.[1].drops ?? {}
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : ` (skipped: ${reason})`
}

function reasonAgainstAddon(): string | undefined {
  try {
    openMemoryEngine({ privateKey: new Uint8Array(32).fill(1), onEvent() {} }).close()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
