/** From a PUT's sending on one node to the event that shows it on another: idle, three nodes and two leaves of a star. */
import type { ApiClient } from '@mesh/api-client'
import { createNodeClient } from '@mesh/api-client/node'
import { createLab, whyNoNamespaces } from '@mesh/testkit'
import { createMesh, makeToken } from '../../apps/node/test/harness.ts'
import { spread } from './statistics.ts'
import { until } from './until.ts'

const WRITES = 200
const GIVE_UP_MS = 60_000

export async function measureDelay() {
  return { threeNodes: await measureThree(), leavesOfAStar: await measureStar() }
}

async function measureThree() {
  const mesh = createMesh()
  try {
    const token = makeToken()
    const hub = await mesh.start({ token, built: true })
    const join = [`--discovery-bootstrap-peers=${hub.addresses.join(',')}`]
    const others = [
      await mesh.start({ token, built: true, args: join }),
      await mesh.start({ token, built: true, args: join }),
    ]
    for (const { client } of [hub, ...others])
      await until(async () => (await client.getSummary({})).OnChainNodes === 2, 20_000)
    const [first, second] = others
    if (first === undefined || second === undefined) throw new Error('three nodes')
    return await measureBetween(first.client, second.client)
  } finally {
    await mesh.cleanUp()
  }
}

async function measureStar() {
  const skipped = whyNoNamespaces(['ip'])
  if (skipped !== undefined) return { skipped }
  const lab = createLab(['hub', 'left', 'right'])
  const mesh = createMesh()
  try {
    for (const [device, host, subnet] of [
      ['l0', 'left', '192.168.87'],
      ['r0', 'right', '192.168.88'],
    ] as const) {
      lab.wire(
        { host: 'hub', device, addresses: [`${subnet}.1/24`] },
        { host, device: 'eth0', addresses: [`${subnet}.2/24`] },
      )
    }
    const token = makeToken()
    const start = async (host: string, ...args: string[]) => {
      const node = await mesh.start({
        token,
        built: true,
        prefix: lab.inside(host, []),
        baseArgs: ['--private', '--mdns=false'],
        args,
      })
      return {
        addresses: node.addresses,
        client: createNodeClient({ baseUrl: `unix://${node.controlSocket}` }),
      }
    }
    const hub = await start('hub')
    const through = (subnet: string) =>
      `--discovery-bootstrap-peers=${hub.addresses.filter((address) => address.includes(subnet)).join(',')}`
    const left = await start('left', through('192.168.87'))
    const right = await start('right', through('192.168.88'))
    await until(async () => (await hub.client.getSummary({})).OnChainNodes === 2, 20_000)
    return await measureBetween(left.client, right.client)
  } finally {
    await mesh.cleanUp()
    lab.close()
  }
}

async function measureBetween(writer: ApiClient, reader: ApiClient) {
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(GIVE_UP_MS)])
  const seen = new Map<string, () => void>()
  const opened = Promise.withResolvers<void>()
  const watching = (async () => {
    const onState = () => opened.resolve()
    for await (const event of reader.events({ types: ['ledger.changed'], signal, onState })) {
      if (event.type === 'ledger.changed') for (const change of event.data.Changes) seen.get(change.Key)?.()
    }
  })()
  watching.catch(() => {})
  signal.addEventListener('abort', () => seen.forEach((arrived) => arrived()))
  await opened.promise
  const delays: number[] = []
  for (let at = 0; at < WRITES && !signal.aborted; at++) {
    const key = `delay-${at}`
    const arrived = new Promise<void>((resolve) => seen.set(key, resolve))
    const began = performance.now()
    await writer.putText({ bucket: 'delay', key, value: 'x' })
    await arrived
    seen.delete(key)
    delays.push(performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  if (signal.aborted) throw new Error(`only ${delays.length - 1} of ${WRITES} writes arrived`)
  stop.abort()
  return { writes: WRITES, delayMs: spread(delays) }
}
