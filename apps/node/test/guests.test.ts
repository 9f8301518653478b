/**
 * A stock WireGuard app as a guest: wireguard-go, set up by nothing but the configuration that `mesh guest add` prints,
 * reaches a second machine of the VPN through the node, and is reached from it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bridge, createLab, eventually, findWireguardGo, type Lab } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startStockWireguard, type StockWireguard, valueOf } from './stock-wireguard.ts'
import {
  createVpnLab,
  iperf,
  type Machine,
  ping,
  pingSoon,
  runIn,
  serveIperf,
  type VpnLab,
  whyNoVpn,
} from './vpn-lab.ts'

const wireguardGo = findWireguardGo(['wg'])
const why =
  whyNoVpn(['ip', 'ping', 'iperf3', 'wg', 'dig']) ??
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
  let app: StockWireguard | undefined
  let stateDir: string
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
    await app?.stop()
    await vpn?.close()
    rmSync(stateDir, { recursive: true, force: true })
  })

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
    app = await startStockWireguard({
      lab,
      host: 'phone',
      file: 'file' in wireguardGo ? wireguardGo.file : '',
      device: `wg${process.pid}`,
      configuration,
    })
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
    app?.configure()
    await pingSoon(lab, 'phone', node.v4, 60_000)
    await pingSoon(lab, 'phone', member.v4, 60_000)
  }, 120_000)

  test('after the node moved new guests are told where it is, and those who look elsewhere are named', async () => {
    // it is known for some seconds from where the guest is answered
    await ping(lab, 'phone', node.v4, { count: 15 })
    // the first goes before: with it all others of its network would
    lab.run('node', ['ip', 'addr', 'del', '192.168.9.1/24', 'dev', 'eth0'])
    lab.run('node', ['ip', 'addr', 'add', '192.168.9.77/24', 'dev', 'eth0'])
    // it sends to where the node was, until the node says a word: by itself only 15 s after it was not answered
    const endpoint = () => lab.run('phone', ['wg', 'show', 'all', 'endpoints'])
    await eventually(() => expect(endpoint()).toContain('\t192.168.9.77:'), { withinMs: 8_000 })
    await pingSoon(lab, 'phone', node.v4)
    const tablet = await node.control.createGuest({ body: { Name: 'tablet' } })
    expect(valueOf(tablet.Configuration, 'Endpoint')).toMatch(/^192\.168\.9\.77:\d+$/)
    const router = await node.control.createGuest({ body: { Name: 'router', Endpoint: 'vpn.example.org' } })
    expect(router.Endpoint).toMatch(/^vpn\.example\.org:\d+$/)
    const guests = await node.control.listGuests()
    expect(guests.map(({ Name, NodeEndpoint, NodeMoved }) => [Name, NodeEndpoint, NodeMoved])).toEqual([
      ['phone', valueOf(configuration, 'Endpoint'), true],
      ['tablet', tablet.Endpoint, false],
      ['router', router.Endpoint, false],
    ])
    const { Problems } = await node.control.getHealth()
    const told = Problems.find(({ Code }) => Code === 'vpn.guest_endpoint')
    expect(`${told?.Title} ${told?.Hint}`).toMatch(/phone at 192\.168\.9\.1:.* 192\.168\.9\.77:/)
    const full = node.control.createGuest({ body: { Name: 'full', FullTunnel: true } })
    await expect(full).rejects.toMatchObject({ code: 'vpn.no_exit' })
    for (const name of ['tablet', 'router']) await node.control.deleteGuest({ name })
    lab.run('node', ['ip', 'addr', 'del', '192.168.9.77/24', 'dev', 'eth0'])
    lab.run('node', ['ip', 'addr', 'add', '192.168.9.1/24', 'dev', 'eth0'])
  }, 30_000)

  test('it is silent at once when it is removed', async () => {
    await node.control.deleteGuest({ name: 'phone' })
    const pings = [node, member].map(({ v4 }) => ping(lab, 'phone', v4, { count: 1, withinS: 1 }))
    const outcomes = await Promise.allSettled(pings)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await node.control.listGuests()).toEqual([])
  }, 30_000)
})

/** The same port, so that members find it again. */
function listenOf({ addresses }: Machine): readonly string[] {
  const port = addresses.map((address) => /\/192\.168\.9\.1\/tcp\/(\d+)/.exec(address)?.[1]).find(Boolean)
  return [`--listen-maddrs=/ip4/0.0.0.0/tcp/${port}`]
}
