/** Who proves the network's key is a member; nobody else gets anywhere on `/mesh/...`. */
import type { Connection, Stream } from '@libp2p/interface'
import { parsePeerId, type PeerId, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readFrames, writeFrame } from '../src/libp2p/frames.ts'
import { buildProof, deriveMemberKey } from '../src/membership/handshake.ts'
import {
  decodeHandshakeMessage,
  encodeHandshakeMessage,
  type HandshakeMessage,
} from '../src/membership/handshake-message.ts'
import { MEMBER_PROTOCOL } from '../src/protocols.ts'
import { createTestNetwork, type TestHost, type TestMember, type TestNetwork } from './members.ts'

let network: TestNetwork
beforeEach(() => {
  network = createTestNetwork()
})
afterEach(() => network.stop())

const eventuallyProven = (a: TestMember, b: TestMember) =>
  eventually(() => {
    expect(a.membership.isProven(b.id)).toBe(true)
    expect(b.membership.isProven(a.id)).toBe(true)
  })

describe('two members', () => {
  test('prove themselves to each other as soon as they are connected, once', async () => {
    const [a, b] = await Promise.all([network.member(), network.member()])
    const changes: [PeerId, boolean][] = []
    b.membership.onChange((peer, proven) => changes.push([peer, proven]))
    await a.connect(b)
    await eventuallyProven(a, b)
    expect(a.membership.members()).toEqual([b.id])
    expect([a.refusals.counts(), b.refusals.counts()]).toEqual([{}, {}])
    const [connection] = a.libp2p.getConnections()
    expect(connection && (await a.membership.prove(connection, AbortSignal.timeout(1000)))).toBe(true)
    expect(changes).toEqual([[a.id, true]])
  })

  test('are members no more on a connection that closed, and again on the next', async () => {
    const [a, b] = await Promise.all([network.member(), network.member()])
    const changes: boolean[] = []
    await a.connect(b)
    await eventuallyProven(a, b)
    b.membership.onChange((_peer, proven) => changes.push(proven))
    await a.libp2p.hangUp(b.libp2p.peerId)
    await eventually(() => expect(b.membership.isProven(a.id)).toBe(false))
    // it holds the key all the same: relays and dials need not wait for a new proof
    expect(b.membership.isMember(a.id)).toBe(true)
    await a.connect(b)
    await eventuallyProven(a, b)
    expect(changes).toEqual([false, true])
  })
})

test('members of different networks never prove anything to each other', async () => {
  const a = await network.member()
  const b = await network.member({ ...generateNetworkConfig({}, systemRandom), room: network.config.room })
  await a.connect(b)
  await eventually(() => expect(a.refusals.counts()).toMatchObject({ 'member.bad_proof': 1 }))
  const [connection] = a.libp2p.getConnections()
  expect(connection && a.membership.standing(connection)).toBe('refused')
  expect(connection && (await a.membership.prove(connection, AbortSignal.timeout(500)))).toBe(false)
  expect([a.membership.isMember(b.id), b.membership.isMember(a.id)]).toEqual([false, false])
  expect(a.events).toContainEqual({
    type: 'refused',
    code: 'member.bad_proof',
    peer: b.id,
    protocol: MEMBER_PROTOCOL,
  })
})

describe('a stranger without the key', () => {
  let member: TestMember
  let stranger: TestHost
  let self: PeerId
  beforeEach(async () => {
    member = await network.member()
    stranger = await network.stranger()
    self = parsePeerId(stranger.peerId.toString())
  })

  /** Speaks the member protocol by hand. */
  async function handshake(): Promise<{
    say(message: HandshakeMessage): Promise<void>
    raw(bytes: Uint8Array): Promise<void>
    hear(): Promise<HandshakeMessage | undefined>
    ended: Promise<void>
  }> {
    const connection = await dial()
    const stream = await connection.newStream([MEMBER_PROTOCOL])
    return talk(stream)
  }
  const dial = (): Promise<Connection> => stranger.dial(member.libp2p.getMultiaddrs())
  /** True when the member counted it so and does not take the stranger for a member. */
  const isRefused = (code: string) =>
    eventually(() => {
      if (member.refusals.counts()[code] === undefined) throw new Error(`no ${code} yet`)
      return !member.membership.isMember(self)
    })

  test('gets no further with a guess', async () => {
    const { say, hear, ended } = await handshake()
    await say({ nonce: systemRandom.bytes(32) })
    expect(await hear()).toMatchObject({ nonce: expect.any(Uint8Array), proof: expect.any(Uint8Array) })
    await say({ proof: systemRandom.bytes(32) })
    await ended
    expect(await isRefused('member.bad_proof')).toBe(true)
  })

  test("gets no further with the member's own proof sent back", async () => {
    const { say, hear } = await handshake()
    await say({ nonce: systemRandom.bytes(32) })
    await say({ proof: (await hear())?.proof })
    expect(await isRefused('member.bad_proof')).toBe(true)
  })

  test('gets no further by asking the member, on a second stream, what to answer on the first', async () => {
    const first = await handshake()
    const second = await handshake()
    await first.say({ nonce: systemRandom.bytes(32) })
    const challenge = await first.hear()
    await second.say({ nonce: challenge?.nonce })
    await first.say({ proof: (await second.hear())?.proof })
    expect(await isRefused('member.bad_proof')).toBe(true)
  })

  test('gets no further with a proof that it saw a member give, on another connection', async () => {
    const [a, nonce] = [await network.member(), systemRandom.bytes(32)]
    const memberKey = deriveMemberKey(network.config)
    // what `a` would have answered to this very challenge: bound to its own id, not the stranger's
    const { say, hear } = await handshake()
    await say({ nonce })
    const responderNonce = (await hear())?.nonce ?? new Uint8Array()
    const ends = { initiator: a.id, responder: member.id, initiatorNonce: nonce, responderNonce }
    await say({ proof: buildProof(memberKey, 'initiator', ends) })
    expect(await isRefused('member.bad_proof')).toBe(true)
  })

  test('gets no further with a proof from an earlier handshake of its own', async () => {
    const memberKey = deriveMemberKey(network.config)
    const nonce = systemRandom.bytes(32)
    const ends = { initiator: self, responder: member.id, initiatorNonce: nonce, responderNonce: nonce }
    const { say, hear } = await handshake()
    await say({ nonce })
    await hear()
    await say({ proof: buildProof(memberKey, 'initiator', ends) })
    expect(await isRefused('member.bad_proof')).toBe(true)
  })

  test('is reset for what is no handshake', async () => {
    for (const bytes of [
      encodeHandshakeMessage({ nonce: new Uint8Array(31) }),
      encodeHandshakeMessage({ proof: new Uint8Array(32) }),
      Uint8Array.of(0xff, 0xff, 0xff),
      new Uint8Array(0),
      new Uint8Array(257),
    ]) {
      const { raw, ended } = await handshake()
      await raw(bytes)
      await ended
    }
    await eventually(() => expect(member.refusals.counts()).toEqual({ 'member.malformed': 5 }))
  })

  test('may not begin handshakes without end', async () => {
    for (let begun = 0; begun < 9; begun++) {
      const { raw, ended } = await handshake()
      await raw(new Uint8Array(0)).catch(() => {})
      await ended
    }
    expect(await isRefused('member.too_many')).toBe(true)
  })
})

test('a handshake message says what it said, and fields of later versions do no harm', () => {
  const nonce = systemRandom.bytes(32)
  const proof = systemRandom.bytes(32)
  const later = Uint8Array.of((15 << 3) | 2, 2, 1, 2)
  const bytes = Uint8Array.from([...encodeHandshakeMessage({ nonce, proof }), ...later])
  expect(decodeHandshakeMessage(bytes)).toEqual({ nonce, proof })
})

function talk(stream: Stream) {
  const frames = readFrames(stream, 1024)
  return {
    say: (message: HandshakeMessage) => writeFrame(stream, encodeHandshakeMessage(message)),
    raw: (bytes: Uint8Array) => writeFrame(stream, bytes),
    async hear() {
      const { value } = await frames.next()
      return value instanceof Uint8Array ? decodeHandshakeMessage(value) : undefined
    },
    ended: new Promise<void>((resolve) => {
      if (stream.status === 'reset') resolve()
      stream.addEventListener('close', () => resolve())
    }),
  }
}
