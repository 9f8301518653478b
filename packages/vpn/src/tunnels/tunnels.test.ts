/** Machines in memory, as stories: all real but the network and the devices. */
import { eventually } from '@mesh/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { PACKETS_PROTOCOL } from './limits.ts'
import { VPN_PROTOCOL } from '../wire/limits.ts'
import { addressOf, peerOf } from '../testing/memory-machine.ts'
import { createMemoryNetwork } from '../testing/memory-network.ts'
import { readAll } from '../testing/memory-stream.ts'
import { markOf, packet } from '../testing/packet.ts'
import {
  because,
  drops,
  numberOf,
  open,
  received,
  send,
  stopAll,
  turn,
  two,
  untilReceived,
  whyNoAddon,
} from '../../test/stories.ts'

afterEach(stopAll)

describe.skipIf(whyNoAddon !== undefined)(`machines in memory${because(whyNoAddon)}`, () => {
  it('loses not even the first packet to a peer that nobody has looked for', async () => {
    const { a, b } = await two()
    expect(a.tunnels.status(b.peer)).toMatchObject({ kind: 'none', path: undefined, mtu: 1280 })
    send(a, b, 1)
    send(a, b, 2)
    expect(await received(b, 2)).toEqual([1, 2])
    send(b, a, 3)
    expect(await received(a, 1)).toEqual([3])
    expect(a.tunnels.status(b.peer)).toMatchObject({
      kind: 'wireguard',
      path: { path: 'direct' },
      streams: { outboundDirect: true, inboundDirect: true },
      lastError: undefined,
    })
    expect(a.tunnels.status(b.peer).sessionSince).toBeGreaterThan(0)
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
      expect(a.tunnels.status(b.peer).kind).toBe('wireguard')
      expect(b.tunnels.status(a.peer).kind).toBe('wireguard')
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
    expect(a.tunnels.status(b.peer)).toMatchObject({
      kind: 'wireguard',
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
    expect(a.tunnels.status(b.peer).streams.outboundDirect).toBe(true)
    expect(b.tunnels.status(a.peer).streams.inboundDirect).toBe(true)
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
    const session = a.tunnels.status(b.peer).sessionSince
    network.disconnect(a.peer, b.peer)
    await eventually(() => expect(a.tunnels.status(b.peer).streams.outboundDirect).toBeUndefined())
    expect(a.tunnels.status(b.peer)).toMatchObject({ kind: 'wireguard', path: undefined })
    send(a, b, 2)
    expect(await received(b, 1)).toEqual([2])
    send(b, a, 3)
    expect(await received(a, 1)).toEqual([3])
    expect(a.tunnels.status(b.peer).sessionSince).toBe(session)
  })

  it('goes by new streams and a new control channel when the connection is in doubt, with the same session', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    send(b, a, 1)
    await received(a, 1)
    const session = a.tunnels.status(b.peer).sessionSince
    const openedBy = (protocol: string) =>
      network.opened.filter((one) => one.from === a.peer && one.protocol === protocol).length
    const before = openedBy(VPN_PROTOCOL)
    network.doubt(a.peer, b.peer)
    send(a, b, 2)
    expect(await received(b, 1)).toEqual([2])
    expect(openedBy(PACKETS_PROTOCOL)).toBe(2)
    await eventually(() => expect(openedBy(VPN_PROTOCOL)).toBe(before + 1))
    expect(a.tunnels.status(b.peer).sessionSince).toBe(session)
  })

  it('needs a moment only when a peer restarts with another key', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    const before = a.tunnels.chosenOf(b.peer).tunnel
    b.stop()
    network.disconnect(a.peer, b.peer)
    network.setReach(a.peer, b.peer, undefined)
    send(a, b, 2)
    await eventually(() => expect(a.tunnels.status(b.peer).lastError?.message).toMatch(/cannot be reached/))
    network.setReach(a.peer, b.peer, 'direct')
    const again = await open(network, { number: 2, peers: [1] })
    const begun = performance.now()
    send(again, a, 3)
    expect(await received(a, 1)).toEqual([3])
    expect(a.tunnels.chosenOf(b.peer).tunnel).not.toEqual(before)
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
    await eventually(() => expect(a.tunnels.status(b.peer).streams.outboundDirect).toBe(true))
    expect(b.tunnels.status(a.peer).kind).toBe('none')
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
    expect(b.tunnels.refusals()).toEqual({ 'packets.broken': 1 })
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
    await eventually(() => expect(b.tunnels.refusals()['packets.too_many']).toBeGreaterThan(20))
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
    await eventually(async () => {
      // on a busy machine the memory device takes only a part of them at a time
      for (let sent = 0; sent < 2000; sent++) {
        a.engine.device.send(packet(addressOf(1), addressOf(2), 1200))
        if (sent % 50 === 0) await turn()
      }
      expect(drops(a, b)).toMatchObject({ outboundFull: expect.any(Number) })
    })
    expect(toB?.pair.mostBytes).toBeLessThan(256 * 1024 + 69 * 1024)
    // the memory device may still be full of what the machine could not send
    await untilReceived(c, 2, () => send(a, c, 2))
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
      expect(got + (drops(a, b).outboundFull ?? 0) + (drops(b, a).deviceRefused ?? 0)).toBe(3000)
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
      () => expect(peers.filter((peer) => a.tunnels.status(peer).lastError === undefined)).toEqual([]),
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
    const { encodeHello } = await import('../wire/control-message.ts')
    await channel.send(encodeHello({ publicKey: b.engine.publicKey, nonce: new Uint8Array(32), mtu: 1280 }))
    await expect(readAll(channel)).rejects.toThrow('reset')
    expect(a.tunnels.refusals()).toEqual({ 'key.held_by_another': 1 })
    send(a, b, 2)
    expect(await received(b, 1)).toEqual([2])
  })

  it('asks a peer that does not answer for its key again, on a stream of its own', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    const before = network.opened.length
    a.tunnels.engineEvent({ type: 'silent', peer: b.peer })
    expect(a.tunnels.status(b.peer)).toMatchObject({ kind: 'wireguard', sessionSince: undefined })
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
    expect(await a.tunnels.probe(b.peer, never)).toEqual({
      path: 'relayed',
      transport: 'memory',
      rttMs: 1,
      mtu: 1280,
    })
    network.disconnect(a.peer, b.peer)
    network.setReach(a.peer, b.peer, undefined)
    await expect(a.tunnels.probe(b.peer, never)).rejects.toMatchObject({ code: 'p2p.unreachable' })
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
