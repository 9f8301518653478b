/**
 * A stock WireGuard app as a guest: wireguard-go, set up by nothing but the configuration that `mesh guest add` prints,
 * reaches a second machine of the VPN through the node, and is reached from it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engineSupport } from '@mesh/engine'
import { bridge, createLab, eventually, findWireguardGo, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createVpnLab,
  iperf,
  type Machine,
  ping,
  pingSoon,
  runIn,
  serveIperf,
  type VpnLab,
} from './vpn-lab.ts'

const support = engineSupport()
const wireguardGo = findWireguardGo()
const why =
  whyNoNamespaces(['ip', 'ping', 'iperf3', 'wg', 'dig']) ??
  (support.supported ? undefined : support.message) ??
  ('skipped' in wireguardGo ? wireguardGo.skipped : undefined)
const suite = why === undefined ? 'guests' : `guests (skipped: ${why})`

const NODE_ARGS = [
  '--mdns=false',
  '--address=10.1.0.1/24',
  '--address=fd00:1::1/64',
  '--dns=10.1.0.1:53',
  '--name=edge',
]

describe.skipIf(why !== undefined)(suite, () => {
  let lab: Lab
  let vpn: VpnLab
  let node: Machine
  let member: Machine
  let app: ChildProcess
  let stateDir: string
  const device = `wg${process.pid}`
  let configuration = ''

  beforeAll(async () => {
    lab = createLab(['switch', 'node', 'member', 'phone'])
    bridge(lab, 'switch', {
      node: ['192.168.9.1/24'],
      member: ['192.168.9.2/24'],
      phone: ['192.168.9.3/24'],
    })
    vpn = createVpnLab(lab)
    stateDir = mkdtempSync(join(tmpdir(), 'mesh-guest-'))
    node = await vpn.start('node', NODE_ARGS, { stateDir })
    const bootstrap = node.addresses.filter((address) => address.includes('/192.168.9.1/tcp/'))
    member = await vpn.start('member', [
      '--mdns=false',
      '--address=10.1.0.2/24',
      '--address=fd00:1::2/64',
      `--discovery-bootstrap-peers=${bootstrap.join(',')}`,
    ])
    await pingSoon(lab, 'member', node.v4)
  }, 120_000)
  afterAll(async () => {
    if (app !== undefined && app.exitCode === null) {
      const gone = once(app, 'exit')
      app.kill()
      await gone
    }
    await vpn?.close()
    rmSync(stateDir, { recursive: true, force: true })
  })

  /** Begins anew with the configuration, as an app does that is switched on. */
  function configure(text: string): void {
    const stripped = text.replaceAll(/^(Address|DNS|MTU) = .*\n/gm, '')
    lab.run('phone', ['sh', '-c', `printf %s '${stripped}' | wg setconf ${device} /dev/stdin`])
  }

  /** Does what wg-quick does. */
  async function setUp(text: string): Promise<void> {
    const [file, ...words] = lab.inside('phone', [
      'file' in wireguardGo ? wireguardGo.file : '',
      '-f',
      device,
    ])
    const environment = { ...process.env, WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: '1' }
    app = spawn(file, words, { stdio: 'ignore', env: environment })
    await eventually(() => lab.run('phone', ['wg', 'show', device]))
    configure(text)
    for (const address of valueOf(text, 'Address').split(', '))
      lab.run('phone', ['ip', 'addr', 'add', address, 'dev', device])
    lab.run('phone', ['ip', 'link', 'set', device, 'mtu', valueOf(text, 'MTU'), 'up'])
    for (const range of valueOf(text, 'AllowedIPs').split(', '))
      lab.run('phone', ['ip', 'route', 'replace', range, 'dev', device])
  }

  test('a configuration is told once, and all that is kept is public', async () => {
    const guest = await node.control.createGuest({ body: { Name: 'phone' } })
    configuration = guest.Configuration
    expect(valueOf(configuration, 'Endpoint')).toMatch(/^192\.168\.9\.1:\d+$/)
    expect(valueOf(configuration, 'Address')).toBe(`${guest.Address}/32, ${guest.Address6}/128`)
    expect(guest.Address6).toMatch(/^fd00:1::?/)
    expect(valueOf(configuration, 'DNS')).toBe('10.1.0.1')
    const [listed] = await node.control.listGuests()
    expect(listed).toMatchObject({ Name: 'phone', Address: guest.Address, Handshake: null })
    const kept = await runIn(lab, 'node', [
      'sh',
      '-c',
      `cat ${stateDir}/*/*/guests.json ${stateDir}/*/guests.json || true`,
    ])
    expect(kept).toContain(guest.PublicKey)
    expect(kept).not.toContain(valueOf(configuration, 'PrivateKey'))
    const again = node.control.createGuest({ body: { Name: 'PHONE' } })
    await expect(again).rejects.toMatchObject({ code: 'vpn.guest_exists' })
  })

  test('it reaches the node and another machine, and is reached', async () => {
    await setUp(configuration)
    const [address = '', address6 = ''] = valueOf(configuration, 'Address').split(/\/\d+(?:, )?/)
    await pingSoon(lab, 'phone', node.v4)
    await pingSoon(lab, 'phone', member.v4)
    await pingSoon(lab, 'member', address)
    await ping(lab, 'node', address)
    await pingSoon(lab, 'phone', 'fd00:1::2')
    await pingSoon(lab, 'member', address6)
    expect(
      await runIn(lab, 'phone', ['dig', `@${valueOf(configuration, 'DNS')}`, '+short', 'edge.mesh']),
    ).toBe('10.1.0.1\n')
    expect(await runIn(lab, 'phone', ['dig', `@${node.v4}`, '+short', 'phone.mesh'])).toBe(`${address}\n`)
    await ping(lab, 'phone', member.v4, { size: 1252 })
    const stop = await serveIperf(lab, 'member')
    try {
      for (const direction of [[], ['-R']]) {
        const { bitsPerSecond } = await iperf(lab, 'phone', member.v4, direction)
        expect(bitsPerSecond).toBeGreaterThan(5e6)
      }
    } finally {
      await stop()
    }
    const [guest] = await node.control.listGuests()
    expect(guest).toMatchObject({
      Endpoint: expect.stringMatching(/^192\.168\.9\.3:/),
      Handshake: expect.stringMatching(/Z$/),
    })
    expect(guest?.BytesIn).toBeGreaterThan(1e6)
    expect(guest?.BytesOut).toBeGreaterThan(1e6)
  }, 60_000)

  test('the member knows it by name, and does not take its name for the node', async () => {
    const machines = await member.control.listMachines()
    expect(machines.find(({ PeerID }) => PeerID === node.id)?.Hostname).toBe('edge')
    const { Peers } = await member.control.getVpn()
    expect(Peers.find(({ PeerID }) => PeerID === node.id)?.Hostname).toBe('edge')
  })

  test('it comes back after the node was killed and started again', async () => {
    await node.stop('SIGKILL')
    node = await vpn.start('node', [...NODE_ARGS, ...listenOf(node)], { stateDir })
    expect((await node.control.listGuests()).map(({ Name }) => Name)).toEqual(['phone'])
    // its app would find that out by itself, after WireGuard's 15 seconds
    configure(configuration)
    await pingSoon(lab, 'phone', node.v4, 60_000)
    await pingSoon(lab, 'phone', member.v4, 60_000)
  }, 120_000)

  test('it is silent at once when it is removed', async () => {
    await node.control.deleteGuest({ name: 'phone' })
    const pings = [node, member].map(({ v4 }) => ping(lab, 'phone', v4, { count: 1, withinS: 1 }))
    const outcomes = await Promise.allSettled(pings)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await node.control.listGuests()).toEqual([])
  }, 30_000)
})

function valueOf(text: string, field: string): string {
  return new RegExp(`^${field} = (.*)$`, 'm').exec(text)?.[1] ?? ''
}

/** The same port, so that members find it again. */
function listenOf({ addresses }: Machine): readonly string[] {
  const port = addresses.map((address) => /\/192\.168\.9\.1\/tcp\/(\d+)/.exec(address)?.[1]).find(Boolean)
  return [`--listen-maddrs=/ip4/0.0.0.0/tcp/${port}`]
}
