import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { createMemoryNode, type P2pMember } from '../src/testing.ts'

const components = { clock: systemClock, random: systemRandom, logger: silentLogger }
const network = generateNetworkConfig({}, systemRandom)
let nodes: P2pMember[] = []

afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  nodes = []
})

async function startStar(count: number, peerExchange: boolean): Promise<P2pMember[]> {
  const make = (bootstrapPeers: readonly string[]) =>
    createMemoryNode({ network, identity: systemRandom.bytes(32), bootstrapPeers, peerExchange }, components)
  const hub = await make([])
  nodes.push(hub)
  nodes.push(...(await Promise.all(Array.from({ length: count - 1 }, () => make(hub.addresses())))))
  return nodes
}

test('ten that know only one find all others, with one connection each', async () => {
  await startStar(10, true)
  await eventually(
    () => {
      for (const node of nodes) {
        expect(node.peers().filter(({ connected, member }) => connected && member)).toHaveLength(9)
      }
    },
    { withinMs: 15_000 },
  )
})

test('a hundred in a star hear each other', async () => {
  const [hub, leaf] = await startStar(100, false)
  await eventually(() => expect(hub?.topic.peers().length).toBe(99), { withinMs: 20_000, everyMs: 200 })
  let heard = 0
  for (const node of nodes) node.topic.onMessage(() => heard++)
  await eventually(
    async () => {
      heard = 0
      await leaf?.topic.publish(new TextEncoder().encode('to all'))
      await eventually(() => expect(heard).toBe(99), { withinMs: 2_000 })
    },
    { withinMs: 15_000 },
  )
}, 60_000)
