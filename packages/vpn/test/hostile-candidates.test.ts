/** Members with many keys that name the addresses of others as their own, in virtual time. */
import { parseIp } from '@mesh/core'
import { afterEach, expect, test } from 'vitest'
import { isCandidateAddress } from '../src/paths/candidates.ts'
import { PROBES_TO_UNPROVEN, UNPROVEN_PROBES } from '../src/paths/limits.ts'
import { PathNetwork, type SimMember } from './path-network.ts'

let network: PathNetwork
afterEach(async () => {
  network.stop()
  await network.run(1_000)
})

const isDirect = (a: SimMember, b: SimMember) => a.paths.pathOf(b.id)?.alsoStream === false

interface Attack {
  readonly keys: readonly SimMember[]
  readonly strangers: readonly SimMember[]
  readonly seconds: number
  /** The address that all keys speak from; each has its own unless given. */
  readonly from?: string | undefined
}

/** Each key names sixteen ports of strangers, in epoch, and gives another secret each second, which begins all anew. */
async function attack(victim: SimMember, { keys, strangers, seconds, from }: Attack) {
  for (const { id, nat } of keys) victim.paths.open(id, { mtu: 1_280, address: from ?? nat.ip })
  for (let second = 0; second < seconds; second++) {
    for (const [at, { id }] of keys.entries()) {
      const candidates = Array.from({ length: 16 }, (_, n) => ({
        endpoint: {
          address: parseIp(strangers[(at + n) % strangers.length]?.nat.ip ?? ''),
          port: 1_000 + second * 16 + n,
        },
        kind: 'seen' as const,
      }))
      const [secret, token] = [new Uint8Array(32).fill(second), new Uint8Array(8).fill(at)]
      victim.paths.told(id, { secret, token, candidates, varies: false })
    }
    await network.run(1_000)
  }
}

test.each([
  { keys: 1, strangers: 20, limit: UNPROVEN_PROBES.perPeer },
  { keys: 60, strangers: 1, limit: PROBES_TO_UNPROVEN.perAddress },
  { keys: 60, strangers: 20, limit: UNPROVEN_PROBES.all },
  { keys: 60, strangers: 20, from: '5.5.5.250', limit: UNPROVEN_PROBES.perAddress },
])(
  '$keys keys (from $from) that name $strangers strangers have few probes sent there',
  async ({ keys, strangers, from, limit }) => {
    network = new PathNetwork()
    const victim = network.add('victim', 'open')
    const named = Array.from({ length: strangers }, (_, at) => network.add(`stranger ${at}`, 'open'))
    const hostile = Array.from({ length: keys }, (_, at) => network.add(`key ${at}`, 'open'))
    const SECONDS = 30
    await attack(victim, { keys: hostile, strangers: named, seconds: SECONDS, from })
    const probes = network.sent.filter(({ to }) => named.some(({ nat }) => nat.ip === to.address))
    expect(probes.length).toBeGreaterThan(100)
    expect(probes.length).toBeLessThanOrEqual((limit?.burst ?? 0) + (limit?.perSecond ?? 0) * SECONDS)
    expect(Math.max(...probes.map(({ bytes }) => bytes.length))).toBeLessThan(100)
  },
)

test('meanwhile a path that is in use stays', async () => {
  network = new PathNetwork()
  const [victim, friend, stranger] = ['victim', 'friend', 'stranger'].map((name) => network.add(name, 'open'))
  if (victim === undefined || friend === undefined || stranger === undefined) throw new Error('no members')
  network.join(victim, friend)
  expect(await network.until(() => isDirect(victim, friend), 5_000)).toBeLessThan(5_000)
  const before = victim.changes.get(friend.id)?.length
  const hostile = Array.from({ length: 100 }, (_, at) => network.add(`key ${at}`, 'open'))
  await attack(victim, { keys: hostile, strangers: [stranger], seconds: 30 })
  expect(isDirect(victim, friend)).toBe(true)
  expect(victim.changes.get(friend.id)?.length).toBe(before)
})

test.each([
  '240.0.0.1',
  '255.255.255.255',
  '127.0.0.1',
  '224.0.0.1',
  '0.0.0.0',
  '169.254.1.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::1',
])('%s is where no member can be', (address) => {
  network = new PathNetwork()
  expect(isCandidateAddress(parseIp(address), [])).toBe(false)
})
