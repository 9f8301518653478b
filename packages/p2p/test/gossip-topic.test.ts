/** The gossip topic over real hosts: who is heard, who is not, and what happens to streams and connections underneath. */
import type { Connection } from '@libp2p/interface'
import { delay, parsePeerId, systemClock, systemRandom } from '@mesh/core'
import { createNetworkSecrets, createSealer, generateNetworkConfig } from '@mesh/network'
import { nativeSealCipher } from '@mesh/network/node'
import { eventually } from '@mesh/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeEnvelope } from '../src/gossip/envelope.ts'
import { writeFrame } from '../src/libp2p/frames.ts'
import { createTestNetwork, type TestHost, type TestMember, type TestNetwork } from './members.ts'

let network: TestNetwork
beforeEach(() => {
  network = createTestNetwork()
})
afterEach(() => network.stop())

const onTopic = (...members: readonly TestMember[]) =>
  eventually(() => {
    for (const { topic } of members) expect(topic.peers().length).toBeGreaterThan(0)
  })

const bytes = (text: string) => new TextEncoder().encode(text)

/** What a host that knows some of the secrets could publish. */
function forger(host: TestHost, network: TestNetwork) {
  const secrets = createNetworkSecrets(network.config)
  const sealer = createSealer(secrets, nativeSealCipher)
  const window = secrets.windowAt(systemClock.now())
  const { topic } = secrets.ofWindow(window)
  return {
    topic,
    seal: (text: string, inWindow = window) => sealer.seal(bytes(text), inWindow, systemRandom.bytes(12)),
    window,
    publish: (data: Uint8Array) => host.services.pubsub.publish(topic, data),
  }
}

test('a message is told with its author, not its hop, and never to the author', async () => {
  const [a, b, c] = await Promise.all([network.member(), network.member(), network.member()])
  const heard: string[] = []
  c.topic.onMessage(({ author, plaintext }) => heard.push(`${author} ${new TextDecoder().decode(plaintext)}`))
  await a.connect(b)
  await b.connect(c)
  await onTopic(a, b, c)
  await eventually(async () => {
    expect(await a.say('through b')).toBe(1)
    expect(heard[0]).toBe(`${a.id} through b`)
  })
  expect(a.heard).toEqual([])
  // a is no neighbour of c, and a sealed text alone makes nobody a member
  expect(c.membership.isMember(a.id)).toBe(false)
  c.topic.noteMember(a.id)
  expect([c.membership.isProven(a.id), c.membership.isMember(a.id)]).toEqual([false, true])
})

test('alone, a publication reaches nobody and does not fail', async () => {
  const a = await network.member()
  await eventually(async () => expect(await a.say('anyone?')).toBe(0))
})

test('members come to the topic and go from it', async () => {
  const [a, b] = await Promise.all([network.member(), network.member()])
  const seen: [string, boolean][] = []
  a.topic.onPeer((peer, present) => seen.push([peer, present]))
  await a.connect(b)
  await onTopic(a, b)
  expect(a.topic.peers()).toEqual([b.id])
  await b.stop()
  await eventually(() => expect(a.topic.peers()).toEqual([]))
  await eventually(() =>
    expect(seen).toEqual([
      [b.id, true],
      [b.id, false],
    ]),
  )
})

test('a message longer than the network allows is refused to its sender', async () => {
  const small = createTestNetwork()
  const a = await small.member({ ...small.config, maxMessageBytes: 10_000 })
  await expect(a.topic.publish(new Uint8Array(4400))).resolves.toBe(0)
  await expect(a.topic.publish(new Uint8Array(4600))).rejects.toMatchObject({ code: 'p2p.message_too_long' })
  await small.stop()
})

test('a message of a network whose messages may be long arrives, however long others may be', async () => {
  const config = { ...network.config, maxMessageBytes: 64 * 2 ** 20 }
  const [a, b] = await Promise.all([network.member(config), network.member(config)])
  const heard: number[] = []
  b.topic.onMessage(({ plaintext }) => heard.push(plaintext.length))
  await a.connect(b)
  await onTopic(a, b)
  // hex doubles it: more than a peer may hold where messages are as long as usual
  const length = 16 * 2 ** 20
  await a.topic.publish(new Uint8Array(length))
  await eventually(() => expect(heard).toEqual([length]), { withinMs: 30_000 })
  expect(b.refusals.counts()).toEqual({})
})

test('a stopped topic publishes nothing and says so', async () => {
  const a = await network.member()
  await a.topic.stop()
  await expect(a.say('late')).rejects.toMatchObject({ code: 'p2p.not_started' })
})

describe('what is wrong is refused and counted, and goes no further', () => {
  let member: TestMember
  let behind: TestMember
  let stranger: TestHost
  beforeEach(async () => {
    ;[member, behind] = await Promise.all([network.member(), network.member()])
    stranger = await network.stranger()
    await member.connect(behind)
    await member.connect({ libp2p: stranger })
    stranger.services.pubsub.subscribe(forger(stranger, network).topic)
    await onTopic(member, behind)
    await eventually(() => {
      const subscribers = stranger.services.pubsub.getSubscribers(forger(stranger, network).topic)
      if (!subscribers.some((peer) => peer.toString() === member.id)) throw new Error('not on the topic yet')
    })
  })

  const refusedAs = (code: string) =>
    eventually(() => {
      expect(member.refusals.counts()).toEqual({ [code]: 1 })
      expect(member.events).toContainEqual(
        expect.objectContaining({ type: 'refused', code, peer: stranger.peerId.toString() }),
      )
      return [member.heard, behind.heard, behind.refusals.counts()]
    })

  test('no envelope', async () => {
    await forger(stranger, network).publish(bytes('hello'))
    expect(await refusedAs('topic.bad_envelope')).toEqual([[], [], {}])
  })

  test('sealed with another key', async () => {
    const other = createTestNetwork()
    await forger(stranger, network).publish(encodeEnvelope(forger(stranger, other).seal('hello')))
    expect(await refusedAs('topic.bad_seal')).toEqual([[], [], {}])
  })

  test('sealed two windows ago', async () => {
    const { publish, seal, window } = forger(stranger, network)
    await publish(encodeEnvelope(seal('hello', window - 2)))
    expect(await refusedAs('topic.bad_seal')).toEqual([[], [], {}])
  })

  test('an envelope that was changed', async () => {
    const { publish, seal } = forger(stranger, network)
    const sealed = seal('hello')
    await publish(encodeEnvelope(sealed.slice(0, -1) + (sealed.endsWith('0') ? '1' : '0')))
    expect(await refusedAs('topic.bad_seal')).toEqual([[], [], {}])
  })

  test('a frame that is none, without harm to what follows', async () => {
    const stream = await openGossipStream(stranger, member)
    await writeFrame(stream, Uint8Array.of(0xff, 0xff, 0xff, 0xff))
    expect(await refusedAs('topic.bad_frame')).toEqual([[], [], {}])
    const { publish, seal } = forger(stranger, network)
    await publish(encodeEnvelope(seal('from one who knows the key')))
    await eventually(() => expect(behind.heard).toEqual(['from one who knows the key']))
  })

  test('a frame longer than the network allows', async () => {
    const stream = await openGossipStream(stranger, member)
    stream.send(Uint8Array.of(0x80, 0x80, 0x80, 0x7f))
    expect(await refusedAs('topic.bad_frame')).toEqual([[], [], {}])
    await eventually(() => expect(stream.status).toBe('reset'))
  })
})

test('an envelope that comes twice is told once', async () => {
  const a = await network.member()
  const known = await network.stranger()
  await a.connect({ libp2p: known })
  const { publish, seal, topic } = forger(known, network)
  known.services.pubsub.subscribe(topic)
  await eventually(() => expect(known.services.pubsub.getSubscribers(topic)).toHaveLength(1))
  const envelope = encodeEnvelope(seal('once'))
  await publish(envelope)
  await publish(envelope)
  await publish(encodeEnvelope(seal('end')))
  await eventually(() => expect(a.heard).toEqual(['once', 'end']))
})

test('a sealed text that another peer signs anew is told once, and passed on under its own author alone', async () => {
  const [a, b] = await Promise.all([network.member(), network.member()])
  const thief = await network.stranger()
  await a.connect(b)
  await onTopic(a, b)
  await b.connect({ libp2p: thief })
  const { publish, topic } = forger(thief, network)
  const seen: Uint8Array[] = []
  thief.services.pubsub.addEventListener('message', ({ detail }) => seen.push(detail.data))
  thief.services.pubsub.subscribe(topic)
  await eventually(() => expect(thief.services.pubsub.getSubscribers(topic)).toHaveLength(1))
  let round = 0
  await eventually(async () => {
    await a.say(`mine ${round++}`)
    expect(seen.length).toBeGreaterThan(0)
  })
  await publish(seen[0] ?? new Uint8Array())
  await eventually(() => expect(b.refusals.counts()).toHaveProperty('topic.replayed'))
  expect(new Set(b.heard).size).toBe(b.heard.length)
  expect(b.membership.isMember(parsePeerId(thief.peerId.toString()))).toBe(false)
})

test('what a listener refuses is not passed on', async () => {
  const [a, b, c] = await Promise.all([network.member(), network.member(), network.member()])
  await a.connect(b)
  await b.connect(c)
  await onTopic(a, b, c)
  b.topic.onMessage(({ plaintext }) => new TextDecoder().decode(plaintext) !== 'too much')
  await a.say('too much')
  await eventually(async () => {
    await a.say('fits')
    expect(c.heard).toContain('fits')
  })
  expect(c.heard).not.toContain('too much')
  expect(b.refusals.counts()).toHaveProperty('topic.overload')
})

test('of two connections that were opened at once either may close, and both sides hear all the same', async () => {
  const [a, b] = await Promise.all([network.member(), network.member()])
  await Promise.all([
    a.libp2p.dial(b.libp2p.getMultiaddrs(), { force: true }),
    b.libp2p.dial(a.libp2p.getMultiaddrs(), { force: true }),
  ])
  await onTopic(a, b)
  const connections = a.libp2p.getConnections()
  expect(connections).toHaveLength(2)
  // by then gossip hangs on one of them: closed sooner, nothing would be at stake
  await delay(systemClock, 500)
  await connections[0]?.close()
  expect(await heardBothWays(a, b, 'after the first closed')).toBe(true)
  await a.libp2p.dial(b.libp2p.getMultiaddrs(), { force: true })
  await delay(systemClock, 500)
  await connections[1]?.close()
  expect(await heardBothWays(a, b, 'after the second closed')).toBe(true)
  expect(a.libp2p.getConnections()).toHaveLength(1)
})

test('a gossip stream that breaks while the connection lives is opened again', async () => {
  const [a, b] = await Promise.all([network.member(), network.member()])
  await a.connect(b)
  await onTopic(a, b)
  const gossip = (connection: Connection | undefined) =>
    (connection?.streams ?? []).filter(({ protocol }) => protocol.startsWith('/meshsub/'))
  for (const round of [1, 2]) {
    for (const stream of gossip(a.libp2p.getConnections()[0])) stream.abort(new Error('broken by the test'))
    expect(await heardBothWays(a, b, `after break ${round}`)).toBe(true)
  }
})

test('a network of another key on the same hosts hears nothing', async () => {
  const a = await network.member()
  const other = await network.member(generateNetworkConfig({}, systemRandom))
  await a.connect(other)
  await eventually(() => expect(a.refusals.counts()).toMatchObject({ 'member.bad_proof': 1 }))
  expect(await a.say('secret')).toBe(0)
  expect([a.topic.peers(), other.heard]).toEqual([[], []])
})

/** Within three seconds, in which both say it again and again. */
function heardBothWays(a: TestMember, b: TestMember, text: string): Promise<boolean> {
  return eventually(
    async () => {
      await a.say(text)
      await b.say(text)
      if (!a.heard.includes(text) || !b.heard.includes(text)) throw new Error('not heard yet')
      return true
    },
    { withinMs: 3000, everyMs: 50 },
  )
}

async function openGossipStream(from: TestHost, to: TestMember) {
  const [connection] = from.getConnections(to.libp2p.peerId)
  if (connection === undefined) throw new Error('not connected')
  return connection.newStream(['/meshsub/1.2.0'])
}
