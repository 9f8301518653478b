import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { systemRandom } from '@mesh/core'
import { encodeToken, generateNetworkConfig } from '@mesh/network'
import { createLab, eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import type { MemberSettings } from './member-process.ts'
import { hearEachOther, type Member, startMember } from './member.ts'

const why = whyNoNamespaces(['ip'])
const edgevpn = process.env['EDGEVPN_BIN']
const whyNoGo =
  why ?? (edgevpn !== undefined && existsSync(edgevpn) ? undefined : 'EDGEVPN_BIN names no binary')
const reason = (text: string | undefined) => (text === undefined ? '' : ` (${text})`)

describe.skipIf(why !== undefined)(`mDNS${reason(why)}`, () => {
  const token = encodeToken(generateNetworkConfig({}, systemRandom))
  const ends: (() => Promise<unknown>)[] = []
  let lab: Lab | undefined

  const makeLab = () => {
    lab = createLab(['a', 'b'])
    lab.wire(
      { host: 'a', device: 'eth0', addresses: ['10.77.0.1/24'] },
      { host: 'b', device: 'eth0', addresses: ['10.77.0.2/24'] },
    )
    return lab
  }
  const start = async (in_: Lab, host: string, more: Partial<MemberSettings> = {}): Promise<Member> => {
    const seed = Buffer.from(systemRandom.bytes(32)).toString('hex')
    const member = await startMember(in_, host, {
      token,
      seed,
      private: true,
      listen: ['/ip4/0.0.0.0/tcp/0'],
      ...more,
      switches: { ws: false, webrtcDirect: false, ...more.switches },
    })
    ends.push(() => member.stop())
    return member
  }
  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()))
    lab?.close()
    lab = undefined
  })

  test('two that start at the same moment find each other and hear each other over one connection', async () => {
    const in_ = makeLab()
    const [a, b] = await Promise.all([start(in_, 'a'), start(in_, 'b')])
    await eventually(
      async () => {
        expect(await a.sees(b)).toMatchObject({ connected: true, member: true, path: 'direct' })
        expect(await b.sees(a)).toMatchObject({ connected: true, member: true, path: 'direct' })
      },
      { withinMs: 15_000, everyMs: 100 },
    )
    await hearEachOther(a, b)
    await eventually(
      async () => {
        expect((await a.status()).connections).toBe(1)
        expect((await b.status()).connections).toBe(1)
      },
      { withinMs: 5_000, everyMs: 200 },
    )
    const methods = [...(await a.status()).discovery, ...(await b.status()).discovery]
    expect(methods.some(({ method, enabled, found }) => method === 'mdns' && enabled && found === 1)).toBe(
      true,
    )
  })

  test('two on a link that has IPv6 alone find each other', async () => {
    lab = createLab(['a', 'b'])
    lab.wire(
      { host: 'a', device: 'eth0', addresses: ['fd77::1/64'] },
      { host: 'b', device: 'eth0', addresses: ['fd77::2/64'] },
    )
    const listen = ['/ip6/::/tcp/0']
    // its addresses are tentative for a while, and multicast waits for the next look at the interfaces
    const [a, b] = await Promise.all([start(lab, 'a', { listen }), start(lab, 'b', { listen })])
    await eventually(
      async () => {
        expect(await a.sees(b)).toMatchObject({ connected: true, member: true, path: 'direct' })
        expect(await b.sees(a)).toMatchObject({ connected: true, member: true, path: 'direct' })
      },
      { withinMs: 40_000, everyMs: 100 },
    )
    await hearEachOther(a, b)
  }, 60_000)

  const startLegacyNode = (in_: Lab, host: string) => {
    const argv = in_.inside(host, [
      edgevpn ?? '',
      'api',
      '--listen',
      '127.0.0.1:8080',
      '--dht=false',
      '--mdns=true',
      '--natmap=false',
      '--autorelay=false',
      '--enable-healthchecks',
      '--log-level',
      'error',
    ])
    const child = spawn(argv[0], argv.slice(1), {
      env: { ...process.env, EDGEVPNTOKEN: token, HOME: '/tmp' },
      stdio: 'ignore',
    })
    ends.push(async () => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    })
  }
  const seesMember = (ours: Member) =>
    eventually(
      async () => {
        const [peer] = (await ours.status()).peers
        if (peer?.member !== true || peer.agent === undefined) throw new Error('no member yet')
        return peer
      },
      { withinMs: 45_000, everyMs: 250 },
    )
  const legacyNode = { connected: true, member: true, path: 'direct', agent: 'edgevpn' }

  test.skipIf(whyNoGo !== undefined)(
    `finds a legacy node${reason(whyNoGo)}`,
    async () => {
      const in_ = makeLab()
      startLegacyNode(in_, 'b')
      expect(await seesMember(await start(in_, 'a'))).toMatchObject(legacyNode)
    },
    60_000,
  )

  test.skipIf(whyNoGo !== undefined)(
    `is found by a legacy node${reason(whyNoGo)}`,
    async () => {
      const in_ = makeLab()
      startLegacyNode(in_, 'b')
      const ours = await start(in_, 'a', { answersOnly: true, switches: { mdns: false } })
      expect(await seesMember(ours)).toMatchObject(legacyNode)
    },
    60_000,
  )
})
