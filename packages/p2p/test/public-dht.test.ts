/** Members that know nobody of their own meet in a DHT of strangers, which speaks the public one's protocol. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { systemRandom } from '@mesh/core'
import { encodeToken, generateNetworkConfig } from '@mesh/network'
import { bridge, createLab, createNatLab, eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { LEGACY_BINARY } from './legacy-node.ts'
import { hearEachOther, type Member, startMember } from './member.ts'

const why = whyNoNamespaces(['ip', 'nft', 'sysctl'])
const DHT_PROCESS = fileURLToPath(new URL('dht-process.ts', import.meta.url))
/** Public addresses: a DHT keeps no private ones. */
const STRANGERS = { one: '5.5.5.11', two: '5.5.5.12', three: '5.5.5.13' } as const
const MEMBERS = { a: '5.5.5.21', b: '5.5.5.22' } as const
const whyNoLegacyNode = LEGACY_BINARY === undefined ? 'EDGEVPN_BIN names no binary' : undefined

const ends: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function startStranger(lab: Lab, host: keyof typeof STRANGERS, bootstrap?: string): Promise<string> {
  const words = [
    DHT_PROCESS,
    `/ip4/${STRANGERS[host]}/tcp/4001`,
    ...(bootstrap === undefined ? [] : [bootstrap]),
  ]
  const [file, ...argv] = lab.inside(host, [process.execPath, ...words])
  const child = spawn(file, argv, { stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = once(child, 'exit')
  ends.push(async () => {
    child.stdin.end()
    await gone
  })
  const line = once(createInterface({ input: child.stdout }), 'line')
  const failed = gone.then(() => Promise.reject(new Error(`the stranger in ${host} ended`)))
  const [address] = (await Promise.race([line, failed])) as [string]
  return address
}

const token = encodeToken(generateNetworkConfig({}, systemRandom))
async function startIn(lab: Lab, host: string, bootstrap: string): Promise<Member> {
  const member = await startMember(lab, host, {
    token,
    seed: Buffer.from(systemRandom.bytes(32)).toString('hex'),
    bootstrapPeers: [bootstrap],
    // a WebSocket that nobody answers cannot be given up, and would keep the process for seconds
    switches: { mdns: false, ws: false },
  })
  ends.push(() => member.stop())
  return member
}

/** A legacy node that looks in the DHT every few seconds. */
function startLegacyNodeIn(lab: Lab, host: keyof typeof MEMBERS, bootstrap: string): void {
  const [file, ...argv] = lab.inside(host, [
    LEGACY_BINARY ?? '',
    'api',
    '--listen=127.0.0.1:8080',
    `--listen-maddrs=/ip4/${MEMBERS[host]}/tcp/4001`,
    `--discovery-bootstrap-peers=${bootstrap}`,
    '--discovery-interval=5',
    ...['mdns', 'natmap', 'autorelay', 'holepunch'].map((flag) => `--${flag}=false`),
  ])
  const child = spawn(file, argv, { env: { HOME: '/nonexistent', EDGEVPNTOKEN: token }, stdio: 'ignore' })
  const gone = once(child, 'exit')
  ends.push(async () => {
    child.kill('SIGKILL')
    await gone
  })
}

/** Where they answer. */
async function startStrangers(lab: Lab): Promise<readonly string[]> {
  ends.push(() => lab.close())
  const first = await startStranger(lab, 'one')
  const others = await Promise.all((['two', 'three'] as const).map((host) => startStranger(lab, host, first)))
  return [first, ...others]
}

function openLab(): Lab {
  const hosts = { ...STRANGERS, ...MEMBERS }
  const lab = createLab(['switch', ...Object.keys(hosts)])
  bridge(lab, 'switch', Object.fromEntries(Object.entries(hosts).map(([host, ip]) => [host, [`${ip}/24`]])))
  return lab
}

describe.skipIf(why !== undefined)(`the public DHT${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  test('members find each other through strangers, and the strangers learn nothing', async () => {
    const lab = openLab()
    const [first = '', second = ''] = await startStrangers(lab)
    const [a, b] = await Promise.all([startIn(lab, 'a', first), startIn(lab, 'b', second)])
    await eventually(
      async () => {
        expect(await a.sees(b)).toMatchObject({ connected: true, member: true, path: 'direct' })
        expect(await b.sees(a)).toMatchObject({ connected: true, member: true, path: 'direct' })
      },
      { withinMs: 60_000, everyMs: 200 },
    )
    await hearEachOther(a, b)
    await eventually(
      async () => {
        const ways = [...(await a.status()).discovery, ...(await b.status()).discovery]
        expect(ways.some(({ method, found }) => method === 'dht' && found > 0)).toBe(true)
      },
      { withinMs: 30_000, everyMs: 500 },
    )
    const ofA = await a.status()
    expect(ofA.topic).toEqual([b.self])
    for (const { id, member } of ofA.peers) expect(member).toBe(id === b.self)
  }, 120_000)

  test('members behind NATs find each other by the token alone, and become direct', async () => {
    const lab = createNatLab('port-preserving', STRANGERS)
    const [first = '', second = '', third = ''] = await startStrangers(lab)
    const [open, a, b] = await Promise.all([
      startIn(lab, 'open', third),
      startIn(lab, 'a', first),
      startIn(lab, 'b', second),
    ])
    await eventually(
      async () => {
        expect(await open.sees(a)).toMatchObject({ connected: true, member: true })
        expect(await a.sees(b)).toMatchObject({ path: 'direct', transport: 'webrtc', member: true })
        expect(await b.sees(a)).toMatchObject({ path: 'direct', transport: 'webrtc', member: true })
      },
      { withinMs: 90_000, everyMs: 500 },
    )
    await hearEachOther(a, b)
  }, 150_000)

  test.skipIf(whyNoLegacyNode !== undefined)(
    `a legacy node is found there${whyNoLegacyNode === undefined ? '' : ` (skipped: ${whyNoLegacyNode})`}`,
    async () => {
      const lab = openLab()
      const [first = '', second = ''] = await startStrangers(lab)
      startLegacyNodeIn(lab, 'b', second)
      const a = await startIn(lab, 'a', first)
      await eventually(
        async () => {
          const { peers } = await a.status()
          expect(peers).toContainEqual(
            expect.objectContaining({ connected: true, member: true, agent: 'edgevpn' }),
          )
        },
        { withinMs: 90_000, everyMs: 500 },
      )
    },
    150_000,
  )
})
