/** Legacy members among machines in memory. */
import { eventually } from '@mesh/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { LEGACY_PROTOCOL } from './limits.ts'
import { PACKETS_PROTOCOL } from '../tunnels/limits.ts'
import { VPN_PROTOCOL } from '../wire/limits.ts'
import { addressOf, peerOf } from '../testing/memory-machine.ts'
import { createMemoryNetwork } from '../testing/memory-network.ts'
import { markOf, packet } from '../testing/packet.ts'
import {
  because,
  drops,
  joinLegacy,
  open,
  received,
  send,
  stopAll,
  two,
  untilReceived,
  whyNoAddon,
  withLegacy,
} from '../../test/stories.ts'

afterEach(stopAll)

describe.skipIf(whyNoAddon !== undefined)(`legacy members${because(whyNoAddon)}`, () => {
  it('get each packet on a stream of its own, and theirs are taken from such', async () => {
    const { network, a, legacy, theirs } = await withLegacy()
    for (const mark of [1, 2, 3]) send(a, legacy, mark)
    await eventually(() => expect(theirs.map(markOf)).toEqual([1, 2, 3]))
    expect(a.tunnels.status(legacy.peer)).toMatchObject({
      kind: 'legacy',
      mtu: 1200,
      path: { path: 'direct' },
    })
    expect(network.opened.filter(({ protocol }) => protocol === LEGACY_PROTOCOL)).toHaveLength(3)
    await legacy.send([packet(addressOf(2), addressOf(1), 300, 4)])
    expect(await received(a, 1)).toEqual([4])
  })

  it('may begin, and the first packet is not lost', async () => {
    const { a, legacy } = await withLegacy()
    const [first, second] = [5, 6].map((mark) => packet(addressOf(2), addressOf(1), 300, mark))
    await legacy.send([first?.subarray(0, 3), first?.subarray(3), second])
    expect(await received(a, 2)).toEqual([5, 6])
  })

  it('are filtered like all others, and refused what is no packet', async () => {
    const { a, legacy } = await withLegacy()
    await legacy.send([packet('10.1.0.9', addressOf(1), 20)])
    await legacy.send([Uint8Array.of(0xff, 1, 2, 3)])
    await legacy.send([packet(addressOf(2), addressOf(1), 200).subarray(0, 100)])
    const long = packet(addressOf(2), addressOf(1), 30_000)
    await legacy.send([long, long, long])
    await eventually(() => {
      expect(drops(a, legacy)).toEqual({ spoofedSource: 1 })
      expect(a.tunnels.refusals()).toEqual({
        'legacy.bad_packet': 1,
        'legacy.unfinished': 1,
        'legacy.too_long': 1,
      })
    })
  })

  it('get no more streams at a time than 64, and nothing over a relay', async () => {
    const { network, a, legacy, theirs } = await withLegacy()
    const live = () =>
      network.opened.filter(({ protocol, pair }) => protocol === LEGACY_PROTOCOL && !pair.ended).length
    let most = 0
    for (let mark = 1; mark <= 150; mark++) send(a, legacy, mark)
    await eventually(
      () => {
        most = Math.max(most, live())
        expect(theirs).toHaveLength(150)
      },
      { everyMs: 1 },
    )
    expect(most).toBeLessThanOrEqual(64)
    network.disconnect(a.peer, legacy.peer)
    network.setReach(a.peer, legacy.peer, 'relayed')
    const before = network.opened.length
    send(a, legacy, 999)
    await eventually(() => expect(a.tunnels.status(legacy.peer).lastError?.message).toMatch(/no direct/))
    expect(network.opened).toHaveLength(before)
    network.connect(a.peer, legacy.peer, 'direct')
    await eventually(() => expect(theirs.map(markOf)).toContain(999))
  })

  it('are refused when they are not in the table, or this node wants none', async () => {
    const { a, legacy } = await withLegacy()
    a.setPeers([])
    await legacy.send([packet(addressOf(2), addressOf(1), 20)])
    await eventually(() => expect(a.tunnels.refusals()).toEqual({ 'legacy.not_in_table': 1 }))
    const network = createMemoryNetwork()
    const strict = await open(network, { number: 1, peers: [2] })
    network.join(peerOf(2))
    send(strict, { peer: peerOf(2) }, 1)
    await eventually(() =>
      expect(strict.tunnels.status(peerOf(2)).lastError).toMatchObject({ code: 'vpn.no_common_protocol' }),
    )
    expect(strict.tunnels.chosenOf(peerOf(2)).tunnel).toEqual({ kind: 'none' })
  })

  it('become sealed when they are updated, and get nothing unsealed from then on', async () => {
    const { network, a, legacy, theirs } = await withLegacy()
    send(a, legacy, 1)
    await eventually(() => expect(theirs).toHaveLength(1))
    network.disconnect(a.peer, legacy.peer)
    const newer = await open(network, { number: 2, peers: [1] })
    // what was to go unsealed is dropped
    await untilReceived(newer, 2, () => send(a, newer, 2))
    expect(a.tunnels.status(newer.peer).kind).toBe('wireguard')
    expect(theirs).toHaveLength(1)
  })

  it('are not taken for one while a channel stands, but for an legacy node in a newer one’s place', async () => {
    const { network, a, b } = await two()
    send(a, b, 1)
    await received(b, 1)
    const stream = await b.member.network.streams.open(a.peer, LEGACY_PROTOCOL, {
      from: 'heard',
      relayed: false,
    })
    stream.send(packet(addressOf(2), addressOf(1), 20))
    await eventually(() => expect(a.tunnels.refusals()).toEqual({ 'legacy.sealed_peer': 1 }))
    b.member.unhandle(VPN_PROTOCOL, PACKETS_PROTOCOL)
    await b.member.network.streams.open(a.peer, LEGACY_PROTOCOL, { from: 'heard', relayed: false })
    await eventually(() => expect(a.tunnels.refusals()).toEqual({ 'legacy.sealed_peer': 2 }))
    b.stop()
    network.disconnect(a.peer, b.peer)
    const { theirs } = joinLegacy(network)
    send(a, b, 7)
    await eventually(() => {
      expect(a.tunnels.status(b.peer).kind).toBe('legacy')
      send(a, b, 8)
      expect(theirs.map(markOf)).toContain(8)
    })
  })
})
