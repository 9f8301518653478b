/** A member that knows the keys of its own probes, and can send from addresses that are not its own, in virtual time. */
import type { Endpoint } from '@mesh/engine'
import { parseIp } from '@mesh/core'
import { afterEach, expect, test } from 'vitest'
import { ANSWERS_TO_UNPROVEN, UNPROVEN_ANSWERS } from '../src/paths/limits.ts'
import { deriveProbeKeys } from '../src/keys/secrets.ts'
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
  /** What seals probes to the victim, and opens those that it sends. */
  readonly seal: { readonly token: Uint8Array; readonly key: Uint8Array }
  readonly open: Uint8Array
}

/** A member that runs no node: it tells the victim that it is where the stranger is. */
function createHostile(victim: SimMember, name: string, stranger: Endpoint, from?: string): Hostile {
  const { id, nat } = network.add(name, 'open')
  victim.active.add(id)
  victim.paths.open(id, { mtu: 1_280, address: from ?? nat.ip })
  const message = network.messages.get(`victim ${id}`)
  if (message === undefined) throw new Error('the victim told nothing')
  const candidates = [{ endpoint: stranger, kind: 'seen' as const }]
  victim.paths.told(id, { secret: SECRET, token: TOKEN, candidates, varies: false })
  const keys = deriveProbeKeys({ self: id, peer: victim.id }, { own: SECRET, theirs: message.secret })
  return { victim, id, seal: { token: message.token, key: keys.send }, open: keys.receive }
}

function createStage() {
  network = new PathNetwork()
  const victim = network.add('victim', 'open')
  const stranger = { address: parseIp(network.add('stranger', 'open').nat.ip), port: 53 }
  return { victim, stranger }
}

const ping = (nonce: bigint) => ({ kind: 'ping', nonce, length: LEAST_PING_BYTES, epoch: 0 }) as const

test('answers of a stranger that never saw the probes are not believed', async () => {
  const { victim, stranger } = createStage()
  const { id, seal } = createHostile(victim, 'hostile', stranger)
  const observed = { address: parseIp(victim.nat.ip), port: 4_700 }
  for (let round = 0; round < 20; round++) {
    await network.run(200)
    network.inject(victim, stranger, encodeProbe(ping(1n), seal))
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
    const { victim, stranger } = createStage()
    const { seal, open } = createHostile(victim, 'hostile', stranger)
    network.inject(victim, stranger, encodeProbe(ping(nonce), seal))
    const answers = network.sent.flatMap(({ bytes }) => decodeProbe(bytes, bytes.length, open) ?? [])
    expect(answers.filter(({ kind }) => kind === 'pong')).toMatchObject([{ nonce }])
  },
)

test.each([
  { from: undefined, strangers: 20, limit: UNPROVEN_ANSWERS.all },
  { from: '5.5.5.250', strangers: 20, limit: UNPROVEN_ANSWERS.perAddress },
  { from: undefined, strangers: 1, limit: ANSWERS_TO_UNPROVEN.perAddress },
])('few answers go to $strangers strangers in whose name 60 keys (from $from) probe', async (attack) => {
  const { victim, stranger } = createStage()
  const others = Array.from({ length: attack.strangers - 1 }, (_, at) => network.add(`other ${at}`, 'open'))
  const named = [stranger, ...others.map(({ nat }) => ({ address: parseIp(nat.ip), port: 53 }))]
  const keys = Array.from({ length: 60 }, (_, at) =>
    createHostile(victim, `key ${at}`, stranger, attack.from),
  )
  const SECONDS = 10
  for (let turn = 0; turn < 10 * SECONDS; turn++) {
    for (const [at, { seal }] of keys.entries()) {
      const source = named[(at + turn) % named.length] ?? stranger
      for (let n = 0; n < 4; n++) network.inject(victim, source, encodeProbe(ping(BigInt(n)), seal))
    }
    await network.run(100)
  }
  const answers = network.sent.filter(({ from, bytes }) => from.address === victim.nat.ip && bytes[3] === 2)
  expect(answers.length).toBeGreaterThan(500)
  expect(answers.length).toBeLessThanOrEqual(
    (attack.limit?.burst ?? 0) + (attack.limit?.perSecond ?? 0) * SECONDS,
  )
})
