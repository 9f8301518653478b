/** Three machines as network namespaces: found by mDNS, cut apart and joined again, and around a hub alone. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ApiClient } from '@mesh/api-client'
import { createNodeClient } from '@mesh/api-client/node'
import { bridge, createLab, eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { createMesh, makeToken, type StartOptions } from './harness.ts'
import { exchange, startEcho } from './service-lab.ts'
import { createCleanUps } from './suite.ts'

const why = whyNoNamespaces(['ip'])
const BUILT = join(import.meta.dirname, '../dist/main.js')
const suite = why === undefined ? 'in namespaces' : `in namespaces (skipped: ${why})`

const cleanUps = createCleanUps()

function makeLab(hosts: readonly string[]): Lab {
  const lab = createLab(hosts)
  cleanUps.push(() => lab.close())
  return lab
}

/** One node in each host, asked over its control socket, which a namespace does not hide. */
function nodesIn(lab: Lab, { token = makeToken(), ...more }: Partial<StartOptions> = {}) {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  return async (host: string, ...args: string[]) => {
    const node = await mesh.start({
      token,
      prefix: lab.inside(host, []),
      baseArgs: ['--private'],
      args,
      ...more,
    })
    return { ...node, client: createNodeClient({ baseUrl: `unix://${node.controlSocket}` }) }
  }
}

async function expectMembers(clients: readonly ApiClient[], others: number): Promise<void> {
  const counts = () => Promise.all(clients.map(async (client) => (await client.getSummary({})).OnChainNodes))
  await eventually(async () => expect(await counts()).toEqual(clients.map(() => others)), {
    withinMs: 30_000,
  })
}

/** In the bucket `notes`. */
async function expectEqualDigests(
  clients: readonly ApiClient[],
  entries: number,
  withinMs: number,
): Promise<void> {
  await eventually(
    async () => {
      const digests = await Promise.all(clients.map((client) => client.getDigest({})))
      expect(new Set(digests.map(({ Buckets }) => Buckets['notes'])).size).toBe(1)
      expect(Object.keys((await clients[0]?.getBucket({ bucket: 'notes' })) ?? {})).toHaveLength(entries)
    },
    { withinMs, everyMs: 100 },
  )
}

describe.skipIf(why !== undefined)(suite, () => {
  test('three nodes find each other by mDNS; a partition heals to the same digest on all', async () => {
    const lab = makeLab(['switch', 'a', 'b', 'c'])
    bridge(lab, 'switch', { a: ['192.168.84.1/24'], b: ['192.168.84.2/24'], c: ['192.168.84.3/24'] })
    const start = nodesIn(lab)
    const [a, b, c] = await Promise.all([start('a'), start('b'), start('c')])
    const clients = [a.client, b.client, c.client]
    await expectMembers(clients, 2)
    await a.client.putText({ bucket: 'notes', key: 'first', value: 'from a', wait: '5s' })
    for (const client of clients) {
      await eventually(async () =>
        expect(await client.getEntry({ bucket: 'notes', key: 'first' })).toBe('from a'),
      )
    }

    lab.setLink('c', 'eth0', 'down')
    for (let at = 0; at < 50; at++) {
      await a.client.putText({ bucket: 'notes', key: `a-${at}`, value: `${at}` })
      await c.client.putText({ bucket: 'notes', key: `c-${at}`, value: `${at}` })
    }
    await b.client.putText({ bucket: 'notes', key: 'both', value: 'b', wait: '5s' })
    await c.client.putText({ bucket: 'notes', key: 'both', value: 'c', wait: '5s' })
    await expectEqualDigests([a.client, b.client], 52, 10_000)
    expect(await c.client.getDigest({})).not.toEqual(await a.client.getDigest({}))

    lab.setLink('c', 'eth0', 'up')
    await expectEqualDigests(clients, 102, 90_000)
    expect(await a.client.getEntry({ bucket: 'notes', key: 'both' })).toBe('c')
  })

  test.skipIf(!existsSync(BUILT))(
    'the build with all that is on by default says nothing is wrong',
    async () => {
      const lab = makeLab(['switch', 'a', 'b'])
      bridge(lab, 'switch', { a: ['192.168.87.1/24'], b: ['192.168.87.2/24'] })
      const start = nodesIn(lab, { baseArgs: [], built: true, until: 'all transports listening' })
      const [a, b] = await Promise.all([start('a'), start('b')])
      await expectMembers([a.client, b.client], 1)
      // the DHT and a router with UPnP are looked for and not there, which is no fault
      for (const { lines } of [a, b]) {
        expect(lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
      }
      expect((await a.stop()).afterMs).toBeLessThan(2_000)
    },
  )

  test('two leaves that reach only a hub share writes through it', async () => {
    const lab = makeLab(['hub', 'left', 'right'])
    lab.wire(
      { host: 'hub', device: 'l0', addresses: ['192.168.85.1/24'] },
      { host: 'left', device: 'eth0', addresses: ['192.168.85.2/24'] },
    )
    lab.wire(
      { host: 'hub', device: 'r0', addresses: ['192.168.86.1/24'] },
      { host: 'right', device: 'eth0', addresses: ['192.168.86.2/24'] },
    )
    const token = makeToken()
    const start = nodesIn(lab, { token })
    const hub = await start('hub')
    const reach = (subnet: string) =>
      `--discovery-bootstrap-peers=${hub.addresses.find((address) => address.includes(`/${subnet}.1/tcp/`) && !address.includes('/ws')) ?? ''}`
    const [left, right] = await Promise.all([
      start('left', '--mdns=false', reach('192.168.85')),
      start('right', '--mdns=false', reach('192.168.86')),
    ])
    await expectMembers([hub.client], 2)
    for (let at = 0; at < 20; at++) {
      const [from, to] = at % 2 === 0 ? [left, right] : [right, left]
      await from.client.putText({ bucket: 'notes', key: `k${at}`, value: 'x', wait: '5s' })
      await eventually(async () =>
        expect(await to.client.getEntry({ bucket: 'notes', key: `k${at}` })).toBe('x'),
      )
    }
    await expectEqualDigests([hub.client, left.client, right.client], 20, 10_000)

    // services and files over the hub as a relay; unix sockets are outside of the namespaces
    await expectRelayedService(left.client, right.client)
    const file = join(makeFolder(), 'file')
    writeFileSync(file, randomBytes(3 * 2 ** 20))
    await left.client.putNodeFile({ name: 'file', body: { Path: file } })
    const copy = join(makeFolder(), 'copy')
    const receive = nodesIn(lab, { token, command: 'file-receive' })
    const receiver = await receive('right', 'file', copy, '--mdns=false', reach('192.168.86'))
    expect((await receiver.exited).code).toBe(0)
    expect(readFileSync(copy).equals(readFileSync(file))).toBe(true)
  })
})

/** 2 MiB there and back, through a service that can be reached over a relay only, soon after it was offered. */
async function expectRelayedService(provider: ApiClient, user: ApiClient): Promise<void> {
  const [target, listen] = [join(makeFolder(), 'echo'), join(makeFolder(), 'echo')]
  const echo = await startEcho({ path: target })
  cleanUps.push(() => echo.close())
  await provider.putNodeService({ name: 'echo', body: { Target: `unix:${target}` } })
  await user.putNodeConnection({ name: 'echo', body: { Listen: `unix:${listen}` } })
  const sent = randomBytes(2 * 2 ** 20)
  expect((await exchange({ path: listen }, sent)).equals(sent)).toBe(true)
  expect(await user.getNodeConnection({ name: 'echo' })).toMatchObject({
    State: 'connected',
    Path: 'relayed',
  })
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-relayed-'))
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
