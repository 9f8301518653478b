/** A member that knows the keys of its own probes, and can send from addresses that are not its own, in virtual time. */
import type { Endpoint } from '@mesh/engine'
import { parseIp } from '@mesh/core'
import { afterEach, expect, test } from 'vitest'
import { deriveProbeKeys } from '../src/paths/probe-keys.ts'
import { decodeProbe, encodeProbe, LEAST_PING_BYTES } from '../src/paths/probe-message.ts'
import { PathNetwork, type SimMember } from './path-network.ts'

let network: PathNetwork
afterEach(async () => {
  network.stop()
  await network.run(1_000)
})

/** The hostile member's own secret and token. */
const [SECRET, TOKEN] = [new Uint8Array(32).fill(7), new Uint8Array(8).fill(7)]

interface Hostile {
  readonly victim: SimMember
  readonly id: SimMember['id']
  /** A stranger, whom the hostile member named as itself. */
  readonly stranger: Endpoint
  /** What seals probes to the victim, and opens those that it sends. */
  readonly seal: { readonly token: Uint8Array; readonly key: Uint8Array }
  readonly open: Uint8Array
}

/** A victim that was told a stranger's address by a member which runs no node. */
function createHostile(): Hostile {
  network = new PathNetwork()
  const [victim, hostile, other] = ['victim', 'hostile', 'stranger'].map((name) => network.add(name, 'open'))
  if (victim === undefined || hostile === undefined || other === undefined) throw new Error('no members')
  const stranger = { address: parseIp(other.nat.ip), port: 53 }
  victim.active.add(hostile.id)
  victim.paths.open(hostile.id, { mtu: 1_280, address: hostile.nat.ip })
  const message = network.messages.get(`victim ${hostile.id}`)
  if (message === undefined) throw new Error('the victim told nothing')
  const candidates = [{ endpoint: stranger, kind: 'seen' as const }]
  victim.paths.told(hostile.id, { secret: SECRET, token: TOKEN, candidates, varies: false })
  const ends = { self: hostile.id, peer: victim.id }
  const keys = deriveProbeKeys(ends, { own: SECRET, theirs: message.secret })
  return {
    victim,
    id: hostile.id,
    stranger,
    seal: { token: message.token, key: keys.send },
    open: keys.receive,
  }
}

test('answers of a stranger that never saw the probes are not believed', async () => {
  const { victim, id, stranger, seal } = createHostile()
  const observed = { address: parseIp(victim.nat.ip), port: 4_700 }
  for (let round = 0; round < 20; round++) {
    await network.run(200)
    const ping = { kind: 'ping', nonce: 1n, length: LEAST_PING_BYTES, turn: 0 } as const
    network.inject(victim, stranger, encodeProbe(ping, seal))
    for (let nonce = 0n; nonce < 100n; nonce++) {
      const pong = { kind: 'pong', nonce, length: LEAST_PING_BYTES, observed } as const
      network.inject(victim, stranger, encodeProbe(pong, seal))
    }
  }
  expect(network.sent.filter(({ to }) => to.address === stranger.address).length).toBeGreaterThan(10)
  expect(victim.paths.pathOf(id)).toBe(undefined)
})

test.each([0n, 1n, 2n ** 53n + 1n, 2n ** 64n - 1n])(
  'a probe with the nonce %s is answered with it',
  (nonce) => {
    const { victim, stranger, seal, open } = createHostile()
    network.inject(
      victim,
      stranger,
      encodeProbe({ kind: 'ping', nonce, length: LEAST_PING_BYTES, turn: 0 }, seal),
    )
    const answers = network.sent.flatMap(({ bytes }) => decodeProbe(bytes, bytes.length, open) ?? [])
    expect(answers.filter(({ kind }) => kind === 'pong')).toMatchObject([{ nonce }])
  },
)
