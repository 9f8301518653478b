/** Bulk over a real connection between two nodes: everything arrives, and what waits anywhere is bounded. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import type { P2pMember } from '../src/node.ts'
import { startLoopbackNode } from './loopback-node.ts'

const PROTOCOL = '/mesh/test/1'
const RULES = { from: 'proven', relayed: false } as const
const BLOCK = 65_536
const BLOCKS = 1_600
const network = generateNetworkConfig({}, systemRandom)
const nodes: P2pMember[] = []

async function start(bootstrapPeers: readonly string[] = []): Promise<P2pMember> {
  const node = await startLoopbackNode({ network, bootstrapPeers })
  nodes.push(node)
  return node
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The first round leaves buffers to a sweep that runs beside. */
function heldBytes(): number {
  collectGarbage()
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
})

test('100 MB over TCP arrive whole and in order, with little under way at any time', async () => {
  const a = await start()
  const b = await start(a.addresses())
  await eventually(() => expect(b.peer(a.self)).toMatchObject({ member: true, transport: 'tcp' }))
  let sent = 0
  let received = 0
  let intact = true
  let mostUnderWay = 0
  let mostHeld = 0
  const ended = new Promise<Error | undefined>((resolve) => {
    void a.streams.handle(PROTOCOL, { ...RULES, maxPerPeer: 1 }, (stream) => {
      stream.onBytes((bytes) => {
        // the n-th block is filled with n: its first and last byte in this chunk tell
        intact &&= bytes[0] === Math.floor(received / BLOCK) % 256
        received += bytes.byteLength
        intact &&= bytes.at(-1) === Math.floor((received - 1) / BLOCK) % 256
        mostUnderWay = Math.max(mostUnderWay, sent - received)
      })
      stream.onEnd(resolve)
    })
  })
  const stream = await b.streams.open(a.self, PROTOCOL, RULES)
  const before = heldBytes()
  const more = () => {
    while (sent < BLOCK * BLOCKS) {
      if (sent % (BLOCKS * BLOCK * 0.1) === 0) mostHeld = Math.max(mostHeld, heldBytes() - before)
      const block = new Uint8Array(BLOCK).fill((sent / BLOCK) % 256)
      sent += BLOCK
      if (!stream.send(block)) return
    }
    stream.close()
  }
  stream.onDrain(more)
  more()
  expect(await ended).toBeUndefined()
  expect([received, intact]).toEqual([BLOCK * BLOCKS, true])
  // both ends are in this process: a window of 1 MiB, sockets' buffers and what is encrypted of it
  expect(mostUnderWay).toBeLessThan(3 * 2 ** 20)
  expect(mostHeld).toBeLessThan(4 * 2 ** 20)
}, 60_000)
