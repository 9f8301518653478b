/** Members tell each other their paths; a stranger is not told, and what hostile members send is dropped. */
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { MAX_REPORT_BYTES } from '../src/path-reports/limits.ts'
import { PATHS_PROTOCOL } from '../src/protocols.ts'
import { createMemoryNode, type P2pMember } from '../src/testing.ts'
import { startLoopbackNode } from './loopback-node.ts'
import { createTestNetwork } from './members.ts'

const OPTIONS = { maxMessageBytes: MAX_REPORT_BYTES }
const network = generateNetworkConfig({}, systemRandom)
let nodes: P2pMember[] = []

afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  nodes = []
})

async function start(bootstrapPeers: readonly string[] = [], config = network): Promise<P2pMember> {
  const node = await createMemoryNode(
    { network: config, identity: systemRandom.bytes(32), bootstrapPeers, peerExchange: false },
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  nodes.push(node)
  return node
}

const reportOf = (reader: P2pMember, member: P2pMember) =>
  reader.pathReports().find(({ peer }) => peer === member.self)

test('each member tells whom it reaches, and how', async () => {
  const hub = await start()
  const [a, b] = await Promise.all([start(hub.addresses()), start(hub.addresses())])
  await eventually(() =>
    expect(hub.pathReports().map(({ state }) => state)).toEqual(['told', 'told', 'told']),
  )
  const told = await eventually(() => {
    const report = reportOf(a, hub)
    expect(report?.state).toBe('told')
    return report
  })
  expect(told?.paths.map(({ peer, path, relay }) => ({ peer, path, relay }))).toEqual(
    expect.arrayContaining([a, b].map(({ self }) => ({ peer: self, path: 'direct', relay: undefined }))),
  )
  expect(reportOf(hub, a)?.paths).toEqual([
    expect.objectContaining({ peer: hub.self, bytesPerSecond: expect.any(Number) as number }),
  ])
  expect(reportOf(a, b)).toBeUndefined()
})

test('a stranger is told nothing', async () => {
  const node = await start()
  const stranger = await start(node.addresses(), generateNetworkConfig({}, systemRandom))
  await eventually(() => expect(stranger.peer(node.self)?.connected).toBe(true))
  await expect(
    stranger.channels.open(node.self, PATHS_PROTOCOL, OPTIONS).then(async (channel) => {
      for await (const message of channel.messages()) return message
      throw new Error('nothing came')
    }),
  ).rejects.toMatchObject({ code: expect.stringMatching(/^p2p\.(not_member|unreachable)$/) as string })
  await eventually(() => expect(node.refusals()['member.bad_proof']).toBeGreaterThan(0))
  expect(node.pathReports()).toHaveLength(1)
})

test.each([
  ['rubbish', Uint8Array.of(255, 255, 255), 'paths.bad_message'],
  ['too much', new Uint8Array(MAX_REPORT_BYTES + 1), 'channel.message_too_long'],
])('a member that sends %s is silent, and counted', async (_name, bytes, code) => {
  const members = createTestNetwork()
  onTestFinished(() => members.stop())
  const node = await startLoopbackNode({ network: members.config })
  nodes.push(node)
  const hostile = await members.member()
  await hostile.channels.handle(PATHS_PROTOCOL, { maxMessageBytes: 10 * MAX_REPORT_BYTES }, (channel) =>
    channel.send(bytes),
  )
  await hostile.libp2p.dial(node.addresses().map((text) => multiaddr(text)))
  const stateOf = () => node.pathReports().find(({ peer }) => peer === hostile.id)?.state
  await eventually(() => expect(stateOf()).toBe('silent'))
  expect(node.refusals()).toHaveProperty([code])
})

test('a member that asks without end is refused, and does no harm', async () => {
  const node = await start()
  const greedy = await start(node.addresses())
  await eventually(() => expect(greedy.peer(node.self)?.member).toBe(true))
  const ask = async () => {
    const channel = await greedy.channels.open(node.self, PATHS_PROTOCOL, OPTIONS)
    try {
      for await (const message of channel.messages()) return message.length
    } finally {
      channel.abort(new Error('read'))
    }
    return 0
  }
  const answers = await Promise.allSettled(Array.from({ length: 20 }, ask))
  const answered = answers.filter((answer) => answer.status === 'fulfilled' && answer.value > 0)
  expect(answered.length).toBeLessThanOrEqual(2)
  const { 'paths.too_many': often = 0, 'channel.too_many': open = 0 } = node.refusals()
  expect(often + open).toBeGreaterThan(0)
})
