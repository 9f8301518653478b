/** Members of older networks among machines in memory. */
import { eventually } from '@mesh/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { PACKETS_PROTOCOL, PLAIN_PROTOCOL, VPN_PROTOCOL } from './limits.ts'
import { addressOf, peerOf } from './testing/memory-machine.ts'
import { createMemoryNetwork } from './testing/memory-network.ts'
import { markOf, packet } from './testing/packet.ts'
import {
  because,
  drops,
  joinOlder,
  open,
  received,
  send,
  stopAll,
  two,
  untilReceived,
  whyNoAddon,
  withOlder,
} from '../../test/stories.ts'

afterEach(stopAll)

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
