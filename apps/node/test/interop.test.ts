/**
 * Our nodes and EdgeVPN nodes in one network: writes, deletes and takeovers both ways through three rotations, by
 * bootstrap peers on loopback and by mDNS in namespaces. Runs where EDGEVPN_BIN names the binary.
 */
import { createNodeClient } from '@mesh/api-client/node'
import { delay, systemClock } from '@mesh/core'
import { bridge, createLab, eventually, freePort, whyNoNamespaces } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { type Edgevpn, startEdgevpn, whyNoEdgevpn } from './edgevpn.ts'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
import { createCleanUps, suiteName } from './suite.ts'

const INTERVAL_S = 20
const ROTATIONS = 3
const TTL_S = 24
/** The pace of the writes, on each side. */
const WRITE_EVERY_MS = 400
const OURS = ['--aliveness-healthcheck-interval=5s', `--ownership-ttl=${TTL_S}s`]
const THEIRS = [
  '--aliveness-healthcheck-interval',
  '5',
  '--ownership-ttl',
  String(TTL_S),
  '--enable-healthchecks',
]

const why = whyNoEdgevpn()
const whyNotMdns = why ?? whyNoNamespaces(['ip', 'curl'])

const cleanUps = createCleanUps()

function ourMesh() {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  return mesh
}

async function theirs(...args: Parameters<typeof startEdgevpn>): Promise<Edgevpn> {
  const node = await startEdgevpn(...args)
  cleanUps.push(() => node.stop())
  return node
}

async function theyHold(node: Edgevpn, bucket: string): Promise<Record<string, unknown>> {
  const { json } = await node.ask('GET', `/api/ledger/${bucket}`)
  const held = (json ?? {}) as Record<string, string>
  return Object.fromEntries(Object.entries(held).map(([key, text]) => [key, JSON.parse(text)]))
}

async function weHold(node: NodeProcess, bucket: string): Promise<Record<string, unknown>> {
  return (await node.client.getBucket({ bucket })) as Record<string, unknown>
}

/** Writes one key on each side every 400 ms until `rotations` are over. */
async function writeThroughRotations(ours: Pick<NodeProcess, 'client'>, edgevpn: Edgevpn, rotations: number) {
  const until = performance.now() + rotations * INTERVAL_S * 1000
  const written: Record<string, string> = {}
  for (let at = 0; performance.now() < until; at++) {
    const value = `v${at}`
    await ours.client.putText({ bucket: 'shared', key: `ours-${at}`, value })
    await edgevpn.ask('PUT', `/api/ledger/shared/theirs-${at}/${value}`)
    written[`ours-${at}`] = value
    written[`theirs-${at}`] = value
    await delay(systemClock, WRITE_EVERY_MS)
  }
  return written
}

interface FourMembers {
  readonly hub: NodeProcess
  readonly leaf: NodeProcess
  readonly first: Edgevpn
  readonly second: Edgevpn
}

/** Two of ours and two EdgeVPN nodes, which all know one of ours. */
async function startFour(): Promise<FourMembers> {
  const mesh = ourMesh()
  const token = makeToken(INTERVAL_S)
  const hub = await mesh.start({ token, args: OURS })
  const bootstrap =
    hub.addresses.find((address) => address.includes('/tcp/') && !address.includes('/ws')) ?? ''
  const leaf = await mesh.start({ token, args: [...OURS, `--discovery-bootstrap-peers=${bootstrap}`] })
  const addresses = ['--listen-maddrs', '/ip4/127.0.0.1/tcp/0', '--discovery-bootstrap-peers', bootstrap]
  const start = async () =>
    theirs({ token, apiPort: await freePort(), args: [...THEIRS, '--mdns=false', ...addresses] })
  const [first, second] = [await start(), await start()]
  await eventually(async () => expect((await hub.client.getSummary({})).OnChainNodes).toBe(3), {
    withinMs: 20_000,
  })
  return { hub, leaf, first, second }
}

/** EdgeVPN deletes what we wrote, we delete what it wrote (its own loop, docs/WIRE.md D39, ended rotations ago). */
async function deleteBothWays(
  { leaf, second }: FourMembers,
  held: () => Promise<readonly Record<string, unknown>[]>,
) {
  await second.ask('DELETE', '/api/ledger/shared/ours-0')
  await leaf.client.deleteEntry({ bucket: 'shared', key: 'theirs-0', wait: '5s' })
  await eventually(
    async () => {
      for (const each of await held()) {
        expect(each).not.toHaveProperty('ours-0')
        expect(each).not.toHaveProperty('theirs-0')
      }
    },
    { withinMs: 30_000, everyMs: 500 },
  )
}

/** Each side's owner dies, and the other side claims its name when the lease is over. */
async function takeOverBothWays({ hub, leaf, first, second }: FourMembers) {
  await first.stop()
  await leaf.stop()
  const owners = async () => {
    const block = await hub.client.getBlock({})
    const dns = block.Storage['dns'] ?? {}
    return [dns['^ours\\.test\\.$']?.Owner, dns['^theirs\\.test\\.$']?.Owner]
  }
  expect(await owners()).toEqual([leaf.id, first.id])
  await eventually(
    () => hub.client.createDns({ body: { Regex: '^theirs\\.test\\.$', Records: { A: '10.9.0.3' } } }),
    { withinMs: (TTL_S + 10) * 1000, everyMs: 1000 },
  )
  await eventually(
    async () => {
      await second.ask('POST', '/api/dns', { Regex: '^ours\\.test\\.$', Records: { A: '10.9.0.4' } })
      expect(await owners()).toEqual([second.id, hub.id])
    },
    { withinMs: (TTL_S + 20) * 1000, everyMs: 3000 },
  )
  await eventually(
    async () => {
      const dns = await theyHold(second, 'dns')
      expect(dns['^theirs\\.test\\.$']).toEqual({ 1: '10.9.0.3' })
    },
    { withinMs: 30_000, everyMs: 500 },
  )
}

describe.skipIf(why !== undefined)(suiteName('with EdgeVPN by bootstrap peers', why), () => {
  test('writes, deletes and takeovers go both ways through three rotations, nothing is lost', {
    timeout: 240_000,
  }, async () => {
    const members = await startFour()
    const { hub, leaf, first, second } = members
    const ours = { Regex: '^ours\\.test\\.$', Records: { A: '10.9.0.1' } }
    await leaf.client.createDns({ body: ours, wait: '20s' })
    await first.ask('POST', '/api/dns', { Regex: '^theirs\\.test\\.$', Records: { A: '10.9.0.2' } })

    const written = await writeThroughRotations(leaf, first, ROTATIONS)
    const held = async () => [
      ...(await Promise.all([hub, leaf].map((node) => weHold(node, 'shared')))),
      ...(await Promise.all([first, second].map((node) => theyHold(node, 'shared')))),
    ]
    await eventually(
      async () => {
        for (const each of await held()) expect(each).toEqual(written)
      },
      { withinMs: 30_000, everyMs: 500 },
    )
    await deleteBothWays(members, held)
    await takeOverBothWays(members)
  })
})

describe.skipIf(whyNotMdns !== undefined)(suiteName('with EdgeVPN by mDNS', whyNotMdns), () => {
  test('both find each other in namespaces and share writes over a rotation', {
    timeout: 180_000,
  }, async () => {
    const lab = createLab(['switch', 'ours', 'theirs'])
    cleanUps.push(() => lab.close())
    bridge(lab, 'switch', { ours: ['192.168.83.1/24'], theirs: ['192.168.83.2/24'] })
    const mesh = ourMesh()
    const token = makeToken(INTERVAL_S)
    const prefixOf = (host: string) => lab.inside(host, [])
    const edgevpn = await theirs({ token, apiPort: 42_103, args: THEIRS, prefix: prefixOf('theirs') })
    const ours = await mesh.start({ token, prefix: prefixOf('ours'), baseArgs: ['--private'], args: OURS })
    const client = createNodeClient({ baseUrl: `unix://${ours.controlSocket}` })
    await eventually(
      async () => {
        expect((await client.getSummary({})).OnChainNodes).toBe(1)
      },
      { withinMs: 40_000 },
    )
    const written = await writeThroughRotations({ client }, edgevpn, 1.5)
    await eventually(
      async () => {
        expect(await theyHold(edgevpn, 'shared')).toEqual(written)
        expect(await client.getBucket({ bucket: 'shared' })).toEqual(written)
      },
      { withinMs: 30_000, everyMs: 500 },
    )
  })
})
