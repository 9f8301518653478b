/** A star whose leaves reach nothing but the hub: each other's addresses lie in a range that they keep out of. */
import { circuitRelayServer } from '@libp2p/circuit-relay-v2'
import { tcp } from '@libp2p/tcp'
import { parseCidr, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { createMeshNode, type MeshNode, type Platform } from '../src/host/mesh-node.ts'
import { joinService } from '../src/libp2p/base-host.ts'
import { joinCircuits } from '../src/nat/circuits.ts'
import { createRelayReservations } from '../src/reach/relay-reservations.ts'

const LEAVES = 6
const ECHO = '/mesh/echo/1'
const OPTIONS = { maxMessageBytes: 1_024 }
const network = generateNetworkConfig({}, systemRandom)
const nodes: MeshNode[] = []
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
      await joinCircuits(host)
      await joinService(host, 'relay', circuitRelayServer())
      reach.startReserving(createRelayReservations({ host, allowLoopback: true }))
      return async () => {}
    },
  }
}

async function start(ip: string, bootstrapPeers: readonly string[] = []): Promise<MeshNode> {
  const node = await createMeshNode(
    {
      network,
      identity: systemRandom.bytes(32),
      bootstrapPeers,
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

const relayedOf = (node: MeshNode) => node.peers().flatMap(({ id, path }) => (path === 'relayed' ? [id] : []))

test('leaves know all others and hold few connections over the hub, until they want one', async () => {
  const hub = await start('127.0.0.1')
  const leaves = await Promise.all(
    Array.from({ length: LEAVES }, (_, at) => start(`127.1.0.${at + 1}`, hub.addresses())),
  )
  const others = (leaf: MeshNode) => leaves.filter((other) => other !== leaf)
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
  expect(from.peer(to.self)).toMatchObject({ path: 'relayed', member: true })
  expect(to.peer(from.self)).toMatchObject({ path: 'relayed', member: true })

  // gossip needs none of them
  const heard = new Set<MeshNode>()
  for (const leaf of leaves) leaf.room.onMessage(() => heard.add(leaf))
  await eventually(
    async () => {
      await from.room.publish(new TextEncoder().encode('to all'))
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
