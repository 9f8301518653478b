/** A star whose leaves reach nothing but the hub: each other's addresses lie in a range that they keep out of. */
import { circuitRelayServer } from '@libp2p/circuit-relay-v2'
import { tcp } from '@libp2p/tcp'
import { parseCidr, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import type { Admission } from '../src/index.ts'
import { createP2pMember, type P2pMember } from '../src/host/p2p-member.ts'
import type { Platform } from '../src/host/platform.ts'
import { joinService } from '../src/libp2p/base-host.ts'
import { joinCircuits } from '../src/nat/circuits.ts'
import { createRelayReservations } from '../src/reach/relay-reservations.ts'

const LEAVES = 6
const ECHO = '/mesh/echo/1'
const OPTIONS = { maxMessageBytes: 1_024 }
const network = generateNetworkConfig({}, systemRandom)
const nodes: P2pMember[] = []
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
})

/** What a machine has, but with relays on loopback and without WebRTC: no connection ever becomes direct. */
function platformAt(ip: string): Platform {
  return {
    transports: [tcp()],
    listen: [`/ip4/${ip}/tcp/0`],
    async join(context) {
      const { host, reach } = context
      await joinCircuits(host, context.clock)
      await joinService(host, 'relay', circuitRelayServer())
      reach.startReserving(createRelayReservations({ host, allowLoopback: true }))
      return async () => {}
    },
  }
}

async function start(
  ip: string,
  bootstrapPeers: readonly string[] = [],
  admission?: Admission,
): Promise<P2pMember> {
  const node = await createP2pMember(
    {
      network,
      identity: systemRandom.bytes(32),
      bootstrapPeers,
      ...(admission !== undefined && { admission }),
      ...(bootstrapPeers.length === 0 ? {} : { blockedRanges: [parseCidr('127.1.0.0/16')] }),
    },
    platformAt(ip),
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  nodes.push(node)
  await node.channels.handle(ECHO, OPTIONS, async (channel) => {
    for await (const message of channel.messages()) await channel.send(message)
  })
  return node
}

const relayedOf = (node: P2pMember) =>
  node.peers().flatMap(({ id, path }) => (path === 'relayed' ? [id] : []))

test('leaves know all others and hold few connections over the hub, until they want one', async () => {
  const hub = await start('127.0.0.1')
  const leaves = await Promise.all(
    Array.from({ length: LEAVES }, (_, at) => start(`127.1.0.${at + 1}`, hub.addresses())),
  )
  const others = (leaf: P2pMember) => leaves.filter((other) => other !== leaf)
  await eventually(
    () => {
      for (const leaf of leaves) {
        const known = leaf.peers().filter(({ addresses }) => addresses.join().includes('p2p-circuit'))
        expect(known.map(({ id }) => id)).toEqual(
          expect.arrayContaining(others(leaf).map(({ self }) => self)),
        )
      }
    },
    { withinMs: 60_000, everyMs: 100 },
  )
  await eventually(() => expect(leaves.some((leaf) => relayedOf(leaf).length > 0)).toBe(true))
  // each leaf tries one at a time; 15 pairs in all
  const held = leaves.reduce((sum, leaf) => sum + relayedOf(leaf).length, 0) / 2
  expect(held).toBeLessThanOrEqual(LEAVES)

  const pair = leaves.flatMap((leaf) =>
    others(leaf).flatMap((other) => (relayedOf(leaf).includes(other.self) ? [] : [[leaf, other] as const])),
  )[0]
  if (pair === undefined) throw new Error('all are connected')
  const [from, to] = pair
  const channel = await from.channels.open(to.self, ECHO, OPTIONS)
  expect(channel.direct).toBe(false)
  await channel.send(new TextEncoder().encode('there'))
  for await (const message of channel.messages()) {
    expect(new TextDecoder().decode(message)).toBe('there')
    break
  }
  const overHub = { path: 'relayed', relay: hub.self, member: true }
  expect(from.peer(to.self)).toMatchObject(overHub)
  expect(to.peer(from.self)).toMatchObject(overHub)
  const [, ...told] = await eventually(() => {
    const reports = hub.pathReports()
    expect(new Set(reports.map(({ state }) => state))).toEqual(new Set(['told']))
    return reports
  })
  const sides = [
    [from, to],
    [to, from],
  ] as const
  for (const [one, other] of sides) {
    const paths = told.find(({ peer }) => peer === one.self)?.paths
    expect(paths).toContainEqual(
      expect.objectContaining({ peer: other.self, path: 'relayed', relay: hub.self }),
    )
  }

  // gossip needs none of them
  const heard = new Set<P2pMember>()
  for (const leaf of leaves) leaf.topic.onMessage(() => heard.add(leaf))
  await eventually(
    async () => {
      await from.topic.publish(new TextEncoder().encode('to all'))
      await eventually(() => expect(heard.size).toBe(LEAVES - 1), { withinMs: 1_000 })
    },
    { withinMs: 15_000 },
  )
}, 90_000)

test('a channel to a member that nobody can reach fails in words, and in time', async () => {
  const hub = await start('127.0.0.1')
  const leaf = await start('127.1.0.1', hub.addresses())
  const gone = await start('127.1.0.2', hub.addresses())
  await eventually(() => expect(leaf.peer(gone.self)?.addresses.join()).toContain('p2p-circuit'), {
    withinMs: 15_000,
  })
  await gone.stop()
  await eventually(() => expect(leaf.peer(gone.self)?.connected).toBe(false), { withinMs: 10_000 })
  await expect(leaf.channels.open(gone.self, ECHO, OPTIONS)).rejects.toMatchObject({
    code: 'p2p.unreachable',
  })
}, 60_000)

test('who is kept out is refused over a member that relays for it, and shut out it loses the circuit', async () => {
  const hub = await start('127.0.0.1')
  const out = await start('127.1.0.1', hub.addresses())
  const listeners = new Set<() => void>()
  let isBanned = false
  const home = await start('127.1.0.2', hub.addresses(), {
    mayUse: (peer) => peer !== out.self,
    isBanned: (peer) => isBanned && peer === out.self,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  })
  const friend = await start('127.1.0.3', hub.addresses())
  for (const leaf of [out, friend]) {
    await eventually(() => expect(leaf.peer(home.self)?.addresses.join()).toContain('p2p-circuit'), {
      withinMs: 30_000,
    })
  }
  const heard: string[] = []
  home.topic.onMessage(({ author }) => heard.push(author))

  expect(await isAnswered(friend, home)).toBe(true)
  expect(await isAnswered(out, home)).toBe(false)
  // the member carried the circuit, and the other end refused what came over it
  expect(home.peer(out.self)).toMatchObject({ connected: true, path: 'relayed', member: false })
  expect(home.refusals()['channel.not_admitted']).toBeGreaterThan(0)
  await expect(home.channels.open(out.self, ECHO, OPTIONS)).rejects.toMatchObject({
    code: 'p2p.not_admitted',
  })
  await eventually(
    async () => {
      await out.topic.publish(Uint8Array.of(1))
      await friend.topic.publish(Uint8Array.of(2))
      expect(home.refusals()['topic.not_admitted']).toBeGreaterThan(0)
      expect(heard).toContain(friend.self)
    },
    { withinMs: 15_000 },
  )
  expect(heard).not.toContain(out.self)

  isBanned = true
  for (const listener of listeners) listener()
  await eventually(() => expect(home.peer(out.self)?.connected).toBe(false), { withinMs: 5_000 })
  // it may wait a moment before it dials again
  await eventually(
    async () => {
      expect(await isAnswered(out, home)).toBe(false)
      expect(home.refusals()).toHaveProperty('host.blocked_peer')
    },
    { withinMs: 20_000 },
  )
  expect(await isAnswered(friend, home)).toBe(true)
}, 90_000)

/** Whether a message that is sent comes back. */
async function isAnswered(from: P2pMember, to: P2pMember): Promise<boolean> {
  try {
    const channel = await from.channels.open(to.self, ECHO, OPTIONS)
    await channel.send(Uint8Array.of(1))
    for await (const message of channel.messages()) return message.length === 1
  } catch {
    // refused
  }
  return false
}
