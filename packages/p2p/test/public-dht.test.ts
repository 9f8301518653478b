/** Members that know nobody of their own meet in a DHT of strangers, which speaks the public one's protocol. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { systemRandom } from '@mesh/core'
import { bridge, createLab, eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { encodeToken, generateNetworkConfig } from '../src/index.ts'
import { ORIGINAL_BINARY } from './original.ts'
import { hearEachOther, type Member, startMember } from './member.ts'

const why = whyNoNamespaces(['ip'])
const DHT_PROCESS = fileURLToPath(new URL('dht-process.ts', import.meta.url))
const STRANGERS = ['one', 'two', 'three']
const MEMBERS = ['a', 'b']
const whyNoOriginal = ORIGINAL_BINARY === undefined ? 'EDGEVPN_BIN names no binary' : undefined
/** Public ones: a DHT keeps no private addresses. */
const ipOf = (host: string) => `5.5.5.${[...STRANGERS, ...MEMBERS].indexOf(host) + 1}`

const ends: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function startStranger(lab: Lab, host: string, bootstrap?: string): Promise<string> {
  const words = [DHT_PROCESS, `/ip4/${ipOf(host)}/tcp/4001`, ...(bootstrap === undefined ? [] : [bootstrap])]
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
    listen: [`/ip4/${ipOf(host)}/tcp/4001`],
    bootstrapPeers: [bootstrap],
    switches: { mdns: false, ws: false, webrtc: false, webrtcDirect: false, upnp: false },
  })
  ends.push(() => member.stop())
  return member
}

/** An original node that looks in the DHT every few seconds. */
function startOriginalIn(lab: Lab, host: string, bootstrap: string): void {
  const [file, ...argv] = lab.inside(host, [
    ORIGINAL_BINARY ?? '',
    'api',
    '--listen=127.0.0.1:8080',
    `--listen-maddrs=/ip4/${ipOf(host)}/tcp/4001`,
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

/** Three strangers that serve the DHT, and hosts for members; resolves with the strangers' addresses. */
async function startDht(): Promise<{ lab: Lab; strangers: readonly string[] }> {
  const hosts = [...STRANGERS, ...MEMBERS]
  const lab = createLab(['switch', ...hosts])
  ends.push(() => lab.close())
  bridge(lab, 'switch', Object.fromEntries(hosts.map((host) => [host, [`${ipOf(host)}/24`]])))
  const first = await startStranger(lab, 'one')
  const others = await Promise.all(['two', 'three'].map((host) => startStranger(lab, host, first)))
  return { lab, strangers: [first, ...others] }
}

describe.skipIf(why !== undefined)(`the public DHT${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  test('members find each other through strangers, and the strangers learn nothing', async () => {
    const { lab, strangers } = await startDht()
    const [first = '', second = ''] = strangers
    const [a, b] = await Promise.all([startIn(lab, 'a', first), startIn(lab, 'b', second)])
    await eventually(
      async () => {
        expect(await a.sees(b)).toMatchObject({ connected: true, member: true, path: 'direct' })
        expect(await b.sees(a)).toMatchObject({ connected: true, member: true, path: 'direct' })
      },
      { withinMs: 60_000, everyMs: 200 },
    )
    await hearEachOther(a, b)
    const [ofA, ofB] = [await a.status(), await b.status()]
    const found = [...ofA.discovery, ...ofB.discovery].filter(({ way, found }) => way === 'dht' && found > 0)
    expect(found.length).toBeGreaterThan(0)
    expect(ofA.room).toEqual([b.self])
    for (const { id, member } of ofA.peers) expect(member).toBe(id === b.self)
  }, 120_000)

  test.skipIf(whyNoOriginal !== undefined)(
    `an original node is found there${whyNoOriginal === undefined ? '' : ` (skipped: ${whyNoOriginal})`}`,
    async () => {
      const { lab, strangers } = await startDht()
      startOriginalIn(lab, 'b', strangers[1] ?? '')
      const a = await startIn(lab, 'a', strangers[0] ?? '')
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
