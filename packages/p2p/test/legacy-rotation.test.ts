/**
 * Our members and legacy nodes share writes both ways through three rotations at 20 s, with nothing lost: around a
 * bootstrap node of ours, and around one of theirs. Needs EdgeVPN's binary (`EDGEVPN_BIN`), 70 s, and no network
 * but loopback.
 */
import { delay, systemClock } from '@mesh/core'
import { multiaddr } from '@multiformats/multiaddr'
import { afterAll, expect, test } from 'vitest'
import { buildBlock, keysOfBlock, type LegacyNode, LEGACY_BINARY, startLegacyNode } from './legacy-node.ts'
import { createTestNetwork, type TestMember } from './members.ts'

const INTERVAL_MS = 20_000
const ROTATIONS = 3
const BUCKET = 'interop'
const MISSING = 'EDGEVPN_BIN does not name the binary of a legacy node'
const stops: (() => Promise<void>)[] = []

afterAll(() => Promise.all(stops.map((stop) => stop())))

test.concurrent('two legacyNodes and a member around a bootstrap node of ours lose nothing', async ({
  skip,
}) => {
  skip(LEGACY_BINARY === undefined, MISSING)
  const network = await openNetwork()
  const [hub, leaf] = [await network.member(), await network.member()]
  await leaf.connect(hub)
  const address = hub.libp2p.getMultiaddrs().map(String)
  const legacyNodes = [await network.legacyNode(address), await network.legacyNode(address)]
  expect(await writeThroughRotations([hub, leaf], legacyNodes)).toEqual([[], [], [], []])
}, 120_000)

test.concurrent('two members around a legacy bootstrap node lose nothing', async ({ skip }) => {
  skip(LEGACY_BINARY === undefined, MISSING)
  const network = await openNetwork()
  const hub = await network.legacyNode([])
  const leaves = [await network.member(), await network.member()]
  for (const leaf of leaves) await leaf.libp2p.dial(multiaddr(hub.address))
  expect(await writeThroughRotations(leaves, [hub])).toEqual([[], [], []])
}, 120_000)

async function openNetwork() {
  const network = createTestNetwork({ intervalS: INTERVAL_MS / 1000 })
  stops.push(network.stop)
  return {
    member: () => network.member(),
    async legacyNode(bootstrap: readonly string[]) {
      const legacyNode = await startLegacyNode(network.config, bootstrap)
      stops.push(legacyNode.stop)
      return legacyNode
    },
  }
}

/** Members write four times a second and legacyNodes twice. @returns for each of them the keys that it never got */
async function writeThroughRotations(members: readonly TestMember[], legacyNodes: readonly LegacyNode[]) {
  const heard = members.map((member) => {
    const keys = new Set<string>()
    member.topic.onMessage(({ plaintext }) => {
      for (const key of keysOfBlock(plaintext, BUCKET)) keys.add(key)
    })
    return keys
  })
  await delay(systemClock, 3000)
  const written = new Set<string>()
  const endMs = (Math.floor(systemClock.now() / INTERVAL_MS) + ROTATIONS) * INTERVAL_MS + 6000
  for (let round = 0; systemClock.now() < endMs; round++) {
    for (const [at, member] of members.entries()) {
      const key = `member-${at}-${round}`
      written.add(key)
      heard[at]?.add(key)
      await member.topic.publish(buildBlock(BUCKET, key, member.id))
    }
    if (round % 2 === 0) {
      for (const [at, legacyNode] of legacyNodes.entries()) {
        written.add(`legacy-${at}-${round}`)
        await legacyNode.put(BUCKET, `legacy-${at}-${round}`, 'x')
      }
    }
    await delay(systemClock, 250)
  }
  await delay(systemClock, 3000)
  const held = await Promise.all(
    legacyNodes.map(async (legacyNode) => new Set(await legacyNode.keys(BUCKET))),
  )
  return [...heard, ...held].map((keys) => [...written].filter((key) => !keys.has(key)))
}
