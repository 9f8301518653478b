/** A member with a hostile engine, in a namespace of its own: others go on talking, and what it does is counted. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bridge, createLab, eventually, type Lab } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { createVpnLab, type Machine, ping, pingSoon, runIn, whyNoVpn } from './vpn-lab.ts'
import { createCleanUps } from './suite.ts'

const HOSTILE_ADDRESS = '10.1.0.66'
/** The victim's queues and windows together are bounded by a few MB; garbage collection is lazy. */
const MAX_GROWTH_MB = 80

const why = whyNoVpn(['ip', 'ping'])
const suite = why === undefined ? 'a hostile machine' : `a hostile machine (skipped: ${why})`

const cleanUps = createCleanUps()

describe.skipIf(why !== undefined)(suite, () => {
  test.each(['garbage', 'frames'])('that sends %s is counted, and holds nobody up', async (mode) => {
    const { lab, token, a, b } = await startTwo()
    const before = residentMB(a)
    await startHostile({ lab, token, a, mode })
    await eventually(async () => expect(await countedAt(a)).toBeGreaterThan(mode === 'garbage' ? 0 : 1_000), {
      withinMs: 30_000,
      everyMs: 200,
    })
    await ping(lab, 'b', a.v4, { count: 10 })
    await ping(lab, 'a', b.v4, { count: 10 })
    expect(residentMB(a) - before).toBeLessThan(MAX_GROWTH_MB)
    expect((await a.control.getHealth()).Status).not.toBe('error')
  })

  test('that reads nothing costs its own packets only', async () => {
    const { lab, token, a, b } = await startTwo()
    const before = residentMB(a)
    const hostile = await startHostile({ lab, token, a, mode: 'deaf' })
    await eventually(async () => expect(await peerAt(a, hostile)).toMatchObject({ Way: 'sealed' }), {
      withinMs: 30_000,
    })
    const flood = runIn(lab, 'a', ['ping', '-n', '-q', '-f', '-s', '1200', '-w', '4', HOSTILE_ADDRESS])
    await ping(lab, 'b', a.v4, { count: 10 })
    await ping(lab, 'a', b.v4, { count: 10 })
    await expect(flood).rejects.toThrow('100% packet loss')
    expect(residentMB(a) - before).toBeLessThan(MAX_GROWTH_MB)
    await ping(lab, 'b', a.v4)
  })
})

async function startTwo() {
  const hosts = ['a', 'b', 'hostile']
  const lab = createLab(['switch', ...hosts])
  const vpn = createVpnLab(lab)
  cleanUps.push(() => vpn.close())
  bridge(lab, 'switch', Object.fromEntries(hosts.map((host, at) => [host, [`192.168.96.${at + 1}/24`]])))
  const [a, b] = await Promise.all([
    vpn.start('a', ['--address=10.1.0.1/24']),
    vpn.start('b', ['--address=10.1.0.2/24']),
  ])
  await pingSoon(lab, 'a', b.v4)
  return { lab, token: vpn.token, a, b }
}

interface HostileInit {
  readonly lab: Lab
  readonly token: string
  /** Where it joins. */
  readonly a: Machine
  readonly mode: string
}

/** @returns its peer id, once its machine is announced */
async function startHostile({ lab, token, a, mode }: HostileInit) {
  const bootstrap = a.addresses.find(
    (address) => address.includes('/192.168.96.1/tcp/') && !address.includes('/ws'),
  )
  const program = join(import.meta.dirname, 'hostile-machine.ts')
  const [file, ...words] = lab.inside('hostile', [process.execPath, '--conditions=mesh-source', program])
  const child = spawn(file, words, {
    env: { PATH: process.env['PATH'], TOKEN: token, BOOTSTRAP: bootstrap ?? '', MODE: mode },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  cleanUps.push(async () => {
    if (child.exitCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return (JSON.parse(line) as { id: string }).id
}

async function peerAt(of: Machine, peer: string) {
  return (await of.control.getVpn()).Peers.find(({ PeerID }) => PeerID === peer)
}

/** What was refused or dropped of what peers sent. */
async function countedAt(of: Machine): Promise<number> {
  const { Peers, Refusals } = await of.control.getVpn()
  const drops = Peers.flatMap((peer) => Object.values({ ...peer.Drops }))
  return [...drops, ...Object.values({ ...Refusals })].reduce((sum, count) => sum + count, 0)
}

function residentMB({ pid }: Machine): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000
}
