/**
 * An exit node, with a namespace as the Internet: all that a machine sends there leaves by the exit, and while pings go on
 * no packet passes outside of it at any time: at the start, while the exit is gone, and after the node was killed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLab, eventually, findWireguardGo, type Lab } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandWords } from './harness.ts'
import { startStockWireguard, type StockWireguard } from './stock-wireguard.ts'
import { EXIT, EXIT6, EXIT_HOSTS, FAR, FAR6, USER, USER6, wireExit } from './exit-lab.ts'
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
const why = whyNoVpn(['ip', 'nft', 'ping', 'dig', 'iperf3', 'curl'])
const suite = why === undefined ? 'an exit node' : `an exit node (skipped: ${why})`

const LAN_DNS = '192.168.7.53'
/** Behind a router of the local network. */
const FAR_LAN = '10.77.0.1'

/** Counts what the user's machine sends to the Internet past the exit, but for what a link needs. */
const COUNTERS = `table inet count {
  counter past { }
  counter byExit { }
  counter unchanged { }
  chain in {
    type filter hook prerouting priority -300; policy accept;
    icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert, mld2-listener-report } accept
    iifname user ip saddr ${USER} ip daddr != ${EXIT} counter name past
    iifname user ip6 saddr ${USER6} ip6 daddr != ${EXIT6} counter name past
    iifname user ip saddr 10.1.0.0/24 counter name past
    iifname user ip6 saddr fd00:1::/64 counter name past
    iifname exit ip saddr 10.1.0.0/24 counter name unchanged
    iifname exit ip6 saddr fd00:1::/64 counter name unchanged
    ip saddr ${EXIT} ip daddr ${FAR} counter name byExit
    ip6 saddr ${EXIT6} ip6 daddr ${FAR6} counter name byExit
  }
}`

/** What firewalls do that disturb an exit, for addresses that are nobody's. */
const FOREIGN = [
  [
    'user',
    `table inet foreign {
  chain marks { ip daddr 192.0.2.77 meta mark set 0x1; }
  chain out { type route hook output priority mangle; policy accept; jump marks; }
  chain back { type filter hook prerouting priority raw; policy accept; ip saddr 192.0.2.77 fib saddr . mark . iif oif missing drop; }
}`,
  ],
] as const

/** What Docker does at an exit. */
const DROPPING = `table ip filter {
  chain FORWARD { type filter hook forward priority filter; policy drop; }
}`

const DNS_SERVER = `
const socket = require('node:dgram').createSocket('udp4')
socket.on('message', (query, { port, address }) => { query[2] |= 0x80; socket.send(query, port, address) })
socket.bind(53, '${FAR}')
require('node:http').createServer((request, response) => response.end('from ' + request.socket.remoteAddress)).listen(80, '${FAR}')`

describe.skipIf(why !== undefined)(suite, () => {
  let lab: Lab
  let vpn: VpnLab
  let exit: Machine
  let user: Machine
  let folder: string
  let resolverFolder: string
  const children: ChildProcess[] = []
  const guests: StockWireguard[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mesh-exit-'))
    lab = createLab([...EXIT_HOSTS, 'lan'])
    wireExit(lab, COUNTERS)
    lab.wire(
      { host: 'user', device: 'eth1', addresses: ['192.168.7.1/24'] },
      { host: 'lan', device: 'eth0', addresses: [`${LAN_DNS}/24`] },
    )
    // whoever takes the Internet for its own link finds it there: a bound socket would
    lab.run('net', ['sysctl', '-qw', 'net.ipv4.conf.user.proxy_arp=1'])
    lab.run('lan', ['ip', 'addr', 'add', `${FAR_LAN}/32`, 'dev', 'lo'])
    lab.run('user', ['ip', 'route', 'add', '10.77.0.0/16', 'via', LAN_DNS])
    resolverFolder = join('/etc/netns', lab.name('exit'))
    mkdirSync(resolverFolder, { recursive: true })
    writeFileSync(join(resolverFolder, 'resolv.conf'), `nameserver ${FAR}\n`)
    inside('net', [process.execPath, '-e', DNS_SERVER])
    vpn = createVpnLab(lab)
    exit = await startExit()
  }, 60_000)
  afterAll(async () => {
    for (const child of children) child.kill()
    for (const guest of guests) await guest.stop()
    await vpn?.close()
    for (const path of [folder, resolverFolder]) rmSync(path, { recursive: true, force: true })
  })

  function inside(host: string, argv: readonly string[]): void {
    const [file, ...words] = lab.inside(host, argv)
    children.push(spawn(file, words, { stdio: 'ignore' }))
  }

  function startExit(): Promise<Machine> {
    const args = [
      '--name=gate',
      '--address=10.1.0.1/24',
      '--address=fd00:1::1/64',
      '--advertise-exit',
      '--mdns=false',
    ]
    return vpn.start('exit', [...args, '--listen-maddrs=/ip4/0.0.0.0/tcp/4001'], {
      stateDir: join(folder, 'exit'),
    })
  }

  function startUser(args: readonly string[]): Promise<Machine> {
    const bootstrap = exit.addresses.filter((address) => address.includes(`/${EXIT}/tcp/`))
    return vpn.start(
      'user',
      [
        '--address=10.1.0.2/24',
        '--address=fd00:1::2/64',
        '--mdns=false',
        `--discovery-bootstrap-peers=${bootstrap.join(',')}`,
        ...args,
      ],
      { stateDir: join(folder, 'user') },
    )
  }

  /** `unchanged`: the exit sent packets of members on with their own addresses. */
  function counted(name: 'past' | 'byExit' | 'unchanged'): number {
    const text = lab.run('net', ['nft', 'list', 'counter', 'inet', 'count', name])
    return Number(/packets (\d+)/.exec(text)?.[1])
  }

  function rules(family: '-4' | '-6'): string {
    return lab.run('user', ['ip', family, 'rule', 'show'])
  }

  async function expectInternet(): Promise<void> {
    await Promise.all([pingSoon(lab, 'user', FAR, 60_000), pingSoon(lab, 'user', FAR6, 60_000)])
    expect(counted('past')).toBe(0)
  }

  /** Also by sockets that choose the interface themselves. */
  async function expectDropped(): Promise<void> {
    const tries = [FAR, FAR6].flatMap((far) => [
      ping(lab, 'user', far, { count: 1, withinS: 1 }),
      ping(lab, 'user', far, { count: 1, withinS: 1, from: 'eth0' }),
    ])
    const outcomes = await Promise.allSettled(tries)
    expect(outcomes.map(({ status }) => status)).toEqual(tries.map(() => 'rejected'))
    expect(counted('past')).toBe(0)
  }

  function expectSetAgain(): Promise<void> {
    return eventually(
      () => {
        for (const family of ['-4', '-6'] as const) expect(rules(family)).toContain('5107:')
        for (const host of ['user', 'exit'])
          expect(lab.run(host, ['nft', 'list', 'tables'])).toContain('mesh_exit')
      },
      { withinMs: 20_000, everyMs: 200 },
    )
  }

  test('all that leaves goes by the exit from the first moment, the local network is kept, DNS goes along', async () => {
    const starting = startUser(['--exit-node=gate'])
    await eventually(() => expect(rules('-6')).toContain('5100:'), { withinMs: 20_000, everyMs: 20 })
    // before there is an exit, and through all that follows
    for (const far of [FAR, FAR6]) inside('user', ['ping', '-n', '-q', '-i', '0.1', far])
    user = await starting
    await expectInternet()
    // a normal start is no error
    expect(user.lines.filter((line) => line['code'] === 'vpn.exit_gone')).toEqual([])
    expect(counted('byExit')).toBeGreaterThan(1)
    await Promise.all([ping(lab, 'user', LAN_DNS), ping(lab, 'user', FAR_LAN)])
    expect(await runIn(lab, 'user', ['dig', `@${LAN_DNS}`, 'example.org', '+time=3', '+tries=2'])).toContain(
      'status: NOERROR',
    )
    await eventually(async () => {
      const { ExitNode } = await user.control.getVpn()
      expect(ExitNode).toMatchObject({
        PeerID: exit.id,
        Hostname: 'gate',
        State: 'up',
        Families: ['ipv4', 'ipv6'],
      })
    })
    expect(await runIn(lab, 'user', ['curl', '-sS', '--max-time', '10', `http://${FAR}/`])).toBe(
      `from ${EXIT}`,
    )
    const stop = await serveIperf(lab, 'net')
    try {
      for (const direction of [[], ['-R']])
        expect((await iperf(lab, 'user', FAR, direction)).bitsPerSecond).toBeGreaterThan(1e6)
    } finally {
      await stop()
    }
    expect(counted('past')).toBe(0)
    expect((await exit.control.getVpn()).OffersExit).toEqual(['ipv4', 'ipv6'])
    const { Problems } = await user.control.getHealth()
    expect(Problems.map(({ Code }) => Code)).toContain('exit.inbound')
  }, 120_000)

  /** A stock app on `host` that sends what is for the Internet, and no more, to the node that gave the configuration. */
  async function startGuest(host: string, configuration: string): Promise<void> {
    const file = 'file' in wireguardGo ? wireguardGo.file : ''
    const [device, routes] = [`wg${host}`, [`${FAR}/32`, `${FAR6}/128`]]
    guests.push(await startStockWireguard({ lab, host, file, device, configuration, routes }))
  }

  async function expectInternetOfGuest(host: string): Promise<void> {
    await Promise.all([pingSoon(lab, host, FAR, 30_000), pingSoon(lab, host, FAR6, 30_000)])
    const fetched = await runIn(lab, host, ['curl', '-sS', '--max-time', '10', `http://${FAR}/`])
    expect(fetched).toBe(`from ${EXIT}`)
  }

  /** Where there is a guest on `lan`. */
  async function expectGuestDropped(): Promise<void> {
    if (guests.length === 0) return
    await expect(ping(lab, 'lan', FAR, { count: 1, withinS: 1 })).rejects.toThrow('ping')
  }

  /** A stock app on the user's machine, whose own node has ended, is a guest of the exit itself. */
  async function expectGuestOfExit(): Promise<void> {
    if ('skipped' in wireguardGo) return
    const body = { Name: 'laptop', FullTunnel: true }
    await startGuest('user', (await exit.control.createGuest({ body })).Configuration)
    await expectInternetOfGuest('user')
  }

  test.skipIf('skipped' in wireguardGo)(
    'a guest with a full tunnel goes by the exit of its node, and never past it',
    async () => {
      const body = { Name: 'tablet', FullTunnel: true, Endpoint: '192.168.7.1' }
      await startGuest('lan', (await user.control.createGuest({ body })).Configuration)
      await expectInternetOfGuest('lan')
      expect(counted('past')).toBe(0)
    },
    60_000,
  )

  test('what a firewall and a network manager flush is set again, and nothing passes meanwhile', async () => {
    lab.run('exit', ['nft', 'flush', 'ruleset'])
    for (const family of ['-4', '-6'])
      for (const preference of ['5107', '5108'])
        lab.run('user', ['ip', family, 'rule', 'del', 'pref', preference])
    await expectSetAgain()
    await expectInternet()
    for (const { control } of [user, exit]) {
      const { Problems } = await control.getHealth()
      expect(Problems.map(({ Code }) => Code)).toContain('exit.taken_away')
    }
  }, 60_000)

  test('while the exit is gone packets are dropped, and the status says so; it comes back by itself', async () => {
    await exit.stop('SIGKILL')
    lab.run('user', ['nft', 'flush', 'ruleset'])
    await eventually(
      async () => {
        expect((await user.control.getVpn()).ExitNode?.State).toBe('gone')
        const { Problems } = await user.control.getHealth()
        expect(Problems.map(({ Code }) => Code)).toContain('vpn.exit_gone')
      },
      { withinMs: 30_000, everyMs: 200 },
    )
    await expectSetAgain()
    await expectDropped()
    await expectGuestDropped()
    const before = counted('unchanged')
    exit = await startExit()
    await expectInternet()
    // members that knew it sent to it at once
    expect(counted('unchanged')).toBe(before)
    expect(lab.run('exit', ['nft', 'list', 'tables'])).toContain('mesh_exit_mesh0')
  }, 120_000)

  test('a node that was killed leaves no way past the exit, and the next one goes on with it', async () => {
    await user.stop('SIGKILL')
    await expectDropped()
    for (const [host, ruleset] of FOREIGN) lab.run(host, ['nft', ruleset])
    lab.run('user', ['ip', 'rule', 'add', 'pref', '32000', 'fwmark', '0xca6c', 'lookup', '51820'])
    user = await startUser(['--exit-node=10.1.0.1', '--exit-node-block-lan'])
    await expectInternet()
    const { Problems } = await user.control.getHealth()
    expect(Problems.map(({ Code }) => Code)).toEqual(
      expect.arrayContaining(['exit.foreign_rules', 'exit.foreign_marks', 'exit.rp_filter', 'exit.inbound']),
    )
    lab.run('user', ['ip', 'rule', 'del', 'pref', '32000'])
    lab.run('user', ['nft', 'delete', 'table', 'inet', 'foreign'])
    await expect(ping(lab, 'user', LAN_DNS, { count: 1, withinS: 1 })).rejects.toThrow('ping')
  }, 120_000)

  test('another exit is chosen while the node runs, no packet passes outside, and the choice holds', async () => {
    const flags = ['--exit-node=10.1.0.1', '--exit-node-block-lan']
    const { ExitNode } = await user.control.putExitNode({ body: { Exit: 'nobody' } })
    expect(ExitNode).toMatchObject({ Wanted: 'nobody', State: 'searching' })
    const codes = (await user.control.getHealth()).Problems.map(({ Code }) => Code)
    expect([codes.includes('vpn.exit_searching'), codes.includes('vpn.exit_gone')]).toEqual([true, false])
    await expectDropped()
    await user.control.putExitNode({ body: { Exit: 'gate' } })
    await expectInternet()
    await user.stop()
    user = await startUser(flags)
    expect((await user.control.getVpn()).ExitNode?.Wanted).toBe('gate')
    await user.control.deleteExitNode()
    expect([rules('-4'), rules('-6')].join()).not.toContain('51')
    await ping(lab, 'user', FAR, { count: 1 })
    expect(counted('past')).toBeGreaterThan(0)
    await user.stop()
    user = await startUser(flags)
    expect((await user.control.getVpn()).ExitNode).toBeNull()
    expect(rules('-4')).not.toContain('51')
    await user.control.putExitNode({ body: { Exit: 'gate' } })
    lab.run('net', ['nft', 'reset', 'counters'])
    await expectInternet()
  }, 120_000)

  test('a node without a mark says that it cannot change its exit while it runs', async () => {
    await expect(exit.control.putExitNode({ body: { Exit: 'user' } })).rejects.toMatchObject({
      code: 'exit.no_mark',
    })
  })

  test('nothing is left at the end, nor after a kill once a node starts without an exit', async () => {
    await user.stop()
    expect([rules('-4'), rules('-6')].join()).not.toContain('51')
    await ping(lab, 'user', FAR, { count: 1 })
    expect(counted('past')).toBeGreaterThan(0)
    user = await startUser(['--exit-node=gate'])
    await user.stop('SIGKILL')
    expect(rules('-4')).toContain('5108:')
    user = await startUser([])
    expect([rules('-4'), rules('-6')].join()).not.toContain('51')
    expect(lab.run('user', ['nft', 'list', 'tables'])).not.toContain('mesh_exit')
    const full = user.control.createGuest({ body: { Name: 'other', FullTunnel: true } })
    await expect(full).rejects.toMatchObject({ code: 'vpn.no_exit' })
    const { Problems } = await user.control.getHealth()
    expect(Problems.some(({ Code }) => Code === 'vpn.guest_no_exit')).toBe(guests.length > 0)
    await user.stop()
    await expectGuestOfExit()
    await exit.stop()
    expect(lab.run('exit', ['nft', 'list', 'tables'])).not.toContain('mesh_exit')
  }, 120_000)

  test('an exit that forwards nothing says why, and the doctor says so before it starts', async () => {
    lab.run('exit', ['sysctl', '-qw', 'net.ipv4.ip_forward=0', 'net.ipv6.conf.all.forwarding=0'])
    lab.run('exit', ['nft', DROPPING])
    exit = await startExit()
    expect((await exit.control.getVpn()).OffersExit).toEqual([])
    const told = ['not forward IPv4', 'not forward IPv6', 'chain FORWARD']
    const { Problems } = await exit.control.getHealth()
    for (const words of told) expect(Problems.map(({ Title }) => Title).join()).toContain(words)
    await exit.stop()
    const argv = [...commandWords(), 'doctor', '--advertise-exit', `--state-dir=${folder}/none`]
    const said = await runIn(lab, 'exit', ['sh', '-c', '"$@" || true', 'sh', ...argv])
    for (const words of told) expect(said).toContain(words)
  }, 60_000)

  test('with a strict rp_filter the node does not start, and says what to do', async () => {
    lab.run('user', ['sysctl', '-qw', 'net.ipv4.conf.eth0.rp_filter=1'])
    await expect(startUser(['--exit-node=gate'])).rejects.toThrow('rp_filter')
    expect(rules('-4')).not.toContain('51')
  }, 60_000)
})
