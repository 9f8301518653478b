/**
 * The VPN between machines (network namespaces), as people use it: ping and iperf3 between all pairs, through NATs and
 * relays, with every size of packet, through restarts, with leased addresses, and against a member that lies.
 */
import { createLab, createNatLab, bridge, eventually, type Lab } from '@mesh/testkit'
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
  whyNoVpn,
} from './vpn-lab.ts'
import { createCleanUps } from './suite.ts'

const why = whyNoVpn(['ip', 'nft', 'ping', 'iperf3'])
const suite = why === undefined ? 'the VPN in namespaces' : `the VPN in namespaces (skipped: ${why})`

/** How many machines lease together. By hand more may be tried, at 100 MB each: `MESH_TEST_MACHINES=50`. */
const MACHINES = Number(process.env['MESH_TEST_MACHINES'] ?? 5)
const MACHINES_AT_ONCE = 5

const cleanUps = createCleanUps()

function labOf(lab: Lab, intervalS?: number): VpnLab {
  const vpn = createVpnLab(lab, intervalS)
  cleanUps.push(() => vpn.close())
  return vpn
}

/** Hosts on one switch, where mDNS finds them. */
function onSwitch(hosts: readonly string[]): { readonly lab: Lab; readonly vpn: VpnLab } {
  const lab = createLab(['switch', ...hosts])
  const vpn = labOf(lab)
  bridge(lab, 'switch', Object.fromEntries(hosts.map((host, at) => [host, [`192.168.90.${at + 1}/24`]])))
  return { lab, vpn }
}

/** Hosts that reach only `hub`, each by a wire of its own. @returns what each has to be given */
async function aroundHub(hosts: readonly string[], args: readonly string[] = []) {
  const lab = createLab(['hub', ...hosts])
  const vpn = labOf(lab)
  for (const [at, host] of hosts.entries()) {
    lab.wire(
      { host: 'hub', device: `w${at}`, addresses: [`192.168.${91 + at}.1/24`] },
      { host, device: 'eth0', addresses: [`192.168.${91 + at}.2/24`] },
    )
  }
  const hub = await vpn.start('hub', ['--mdns=false', ...args])
  const via = (host: string) => [
    '--mdns=false',
    `--discovery-bootstrap-peers=${hub.addresses.filter((address) => address.includes(`/192.168.${91 + hosts.indexOf(host)}.1/tcp/`)).join(',')}`,
  ]
  return { lab, vpn, hub, via }
}

/** `a`, `b` and `gateway` on one switch, and behind the gateway a printer, 192.168.77.9, that knows no VPN. */
function withPrinter(): { readonly lab: Lab; readonly vpn: VpnLab } {
  const lab = createLab(['switch', 'a', 'b', 'gateway', 'printer'])
  const vpn = labOf(lab)
  bridge(lab, 'switch', { a: ['192.168.90.1/24'], b: ['192.168.90.2/24'], gateway: ['192.168.90.3/24'] })
  lab.wire(
    { host: 'gateway', device: 'lan', addresses: ['192.168.77.1/24'] },
    { host: 'printer', device: 'eth0', addresses: ['192.168.77.9/24'] },
  )
  lab.run('printer', ['ip', 'route', 'add', 'default', 'via', '192.168.77.1'])
  lab.run('gateway', ['sysctl', '-qw', 'net.ipv4.ip_forward=1'])
  return { lab, vpn }
}

function pairs(machines: readonly Machine[]): (readonly [Machine, Machine])[] {
  return machines.flatMap((from) => machines.filter((to) => to !== from).map((to) => [from, to] as const))
}

async function expectAllReach(lab: Lab, machines: readonly Machine[], withinMs?: number): Promise<void> {
  await Promise.all(pairs(machines).map(([from, to]) => pingSoon(lab, from.host, to.v4, withinMs)))
  for (const [from, to] of pairs(machines)) {
    await ping(lab, from.host, to.v4)
    await ping(lab, from.host, to.v6)
  }
}

/** How `of` reaches the peer: its way and path in the API. */
async function peerOf(of: Machine, peer: Machine) {
  const { Peers } = await of.control.getVpn()
  return Peers.find(({ PeerID }) => PeerID === peer.id)
}

/** The IPv4 address that a machine has leased now: it may have moved since it came up. */
async function leasedBy({ control }: Machine): Promise<string | undefined> {
  const { Addresses } = await control.getVpn()
  return Addresses.map((text) => text.split('/')[0]).find((address) => address?.includes('.'))
}

describe.skipIf(why !== undefined)(`${suite}: three machines on a switch`, () => {
  let lab: Lab
  let vpn: VpnLab
  let machines: readonly Machine[]
  let [a, b, c] = [] as unknown as [Machine, Machine, Machine]
  let routesBefore: string

  beforeAll(async () => {
    lab = createLab(['switch', 'a', 'b', 'c'])
    vpn = createVpnLab(lab)
    bridge(lab, 'switch', { a: ['192.168.90.1/24'], b: ['192.168.90.2/24'], c: ['192.168.90.3/24'] })
    lab.run('a', ['ip', 'route', 'add', '172.30.0.0/16', 'via', '192.168.90.77'])
    routesBefore = lab.run('a', ['ip', 'route', 'show'])
    ;[a, b] = await Promise.all([
      vpn.start('a', ['--address=10.1.0.1/24']),
      vpn.start('b', ['--address=10.1.0.2/24']),
    ])
    const known = a.addresses.filter((address) => address.includes('/192.168.90.1/tcp/'))
    // it leases
    c = await vpn.start('c', [`--discovery-bootstrap-peers=${known.join(',')}`])
    machines = [a, b, c]
  }, 120_000)
  afterAll(() => vpn.close())

  test('ping and iperf3 between all pairs', async () => {
    await expectAllReach(lab, machines)
    for (const to of machines) {
      const stop = await serveIperf(lab, to.host)
      try {
        for (const from of machines.filter((machine) => machine !== to)) {
          for (const address of [to.v4, to.v6]) {
            expect((await iperf(lab, from.host, address)).bitsPerSecond).toBeGreaterThan(20e6)
          }
          // where a busy machine holds a process up the kernel drops what does not fit its buffer
          await eventually(
            async () => {
              const udp = await iperf(lab, from.host, to.v4, ['-u', '-b', '10M', '-l', '1000', '-n', '500K'])
              expect(udp.bytes).toBeGreaterThan(400_000)
              expect(udp.lostPercent).toBeLessThan(2)
            },
            { withinMs: 30_000 },
          )
        }
      } finally {
        await stop()
      }
    }
    expect(await peerOf(a, b)).toMatchObject({ Way: 'sealed', Path: 'direct', MTU: 1280 })
    const listed = await a.client.listMachines()
    expect(listed).toHaveLength(3)
    expect(listed.find(({ PeerID }) => PeerID === b.id)).toMatchObject({
      Address: b.v4,
      Addresses: [b.v4, b.v6],
    })
    expect(await a.client.getSummary()).toMatchObject({ Machines: 3 })
  })

  test('`mesh status` and `mesh ping` say how each machine is reached', async () => {
    const environment = { MESHSTATEDIR: a.stateDir, MESHTOKEN: vpn.token }
    const status = await vpn.mesh.run(['status'], { environment })
    expect(status.stdout).toMatch(/10\.1\.0\.2 .*direct/)
    for (const name of ['10.1.0.2', b.id, b.v6]) {
      const answer = await vpn.mesh.run(['ping', name, '--count=2'], { environment })
      expect(answer).toMatchObject({ code: 0, stderr: '' })
      expect(answer.stdout.trim().split('\n')[0]).toMatch(/direct.* ms/)
    }
    const nobody = await vpn.mesh.run(['ping', '10.1.0.99'], { environment })
    expect(nobody.code).not.toBe(0)
    expect(nobody.stderr).toContain('10.1.0.99')
    expect(await runIn(lab, 'a', ['ip', 'addr', 'show', 'mesh0'])).toContain('10.1.0.1/24')
  })

  test("a member's packets under another's address are dropped and counted", async () => {
    lab.run('c', ['ip', 'addr', 'add', `${b.v4}/32`, 'dev', 'mesh0'])
    await expect(ping(lab, 'c', a.v4, { count: 5, from: b.v4 })).rejects.toThrow('100% packet loss')
    expect((await peerOf(a, c))?.Drops['spoofedSource']).toBeGreaterThanOrEqual(5)
    lab.run('c', ['ip', 'addr', 'del', `${b.v4}/32`, 'dev', 'mesh0'])
    await ping(lab, 'c', a.v4, { from: c.v4 })
    await ping(lab, 'b', a.v4)
  })

  test('one that is killed comes back with its address, and packets flow again', async () => {
    await c.kill()
    expect(lab.run('c', ['ip', 'link'])).not.toContain('mesh0')
    const again = await vpn.start('c', [], { stateDir: c.stateDir })
    expect([again.id, again.v4, again.v6]).toEqual([c.id, c.v4, c.v6])
    await expectAllReach(lab, [a, again], 15_000)
  })

  test('nothing of the host is touched, and nothing is left of one that stops', async () => {
    const outside = (routes: string) =>
      routes
        .split('\n')
        .filter((line) => line !== '' && !line.includes('mesh0'))
        .join('\n')
    expect(outside(lab.run('a', ['ip', 'route', 'show']))).toBe(outside(routesBefore))
    await a.stop()
    expect(lab.run('a', ['ip', 'link'])).not.toContain('mesh0')
    expect(lab.run('a', ['ip', 'route', 'show'])).toBe(routesBefore)
  })
})

describe.skipIf(why !== undefined)(suite, () => {
  test('behind NATs that allow no direct way, packets go through a relay, and say so', async () => {
    const lab = createNatLab('fully-random')
    const vpn = labOf(lab)
    const open = await vpn.start('open', ['--mdns=false', '--address=10.1.0.1/24'])
    const reach = [
      '--mdns=false',
      `--discovery-bootstrap-peers=${open.addresses.filter((address) => address.includes('/5.5.5.1/tcp/')).join(',')}`,
    ]
    const [a, b] = await Promise.all([
      vpn.start('a', [...reach, '--address=10.1.0.2/24']),
      vpn.start('b', [...reach, '--address=10.1.0.3/24']),
    ])
    await expectAllReach(lab, [a, b, open])
    expect(await peerOf(a, b)).toMatchObject({ Way: 'sealed', Path: 'relayed' })
    expect(await peerOf(a, open)).toMatchObject({ Way: 'sealed', Path: 'direct' })
    // one alone sees both ends
    await eventually(
      async () => {
        for (const [one, other] of [
          [a, b],
          [b, a],
        ] as const)
          expect((await peerOf(one, other))?.UDP).toMatchObject({ State: 'none', Reason: 'both-vary' })
      },
      { withinMs: 30_000, everyMs: 200 },
    )
    const stop = await serveIperf(lab, 'b')
    cleanUps.push(stop)
    expect((await iperf(lab, 'a', b.v4)).bytes).toBeGreaterThan(200_000)
  })

  test('two that know only a third reach each other through it', async () => {
    const { lab, vpn, hub, via } = await aroundHub(['left', 'right'], ['--address=10.1.0.1/24'])
    const [left, right] = await Promise.all([
      vpn.start('left', [...via('left'), '--address=10.1.0.2/24']),
      vpn.start('right', [...via('right'), '--address=10.1.0.3/24']),
    ])
    await expectAllReach(lab, [left, right, hub])
    expect(await peerOf(left, right)).toMatchObject({ Way: 'sealed', Path: 'relayed' })
  })

  test('packets of every size arrive or their sender is told, with MTUs of 1280, 1500 and 9000', async () => {
    const hosts = ['a', 'b', 'c']
    const { lab, vpn } = onSwitch(hosts)
    const mtus = [1280, 1500, 9000]
    const machines = await Promise.all(
      hosts.map((host, at) => vpn.start(host, [`--address=10.1.0.${at + 1}/24`, `--mtu=${mtus[at]}`])),
    )
    await Promise.all(pairs(machines).map(([from, to]) => pingSoon(lab, from.host, to.v4)))
    for (const [from, to] of pairs(machines)) {
      const least = Math.min(mtus[machines.indexOf(from)] ?? 0, mtus[machines.indexOf(to)] ?? 0)
      for (const size of [0, 1, 1252 - 28, least - 28]) await ping(lab, from.host, to.v4, { count: 1, size })
      await ping(lab, from.host, to.v6, { count: 1, size: least - 48 })
      await expect(ping(lab, from.host, to.v4, { count: 1, size: least - 27 })).rejects.toThrow(
        /message too long|frag needed|mtu/i,
      )
    }
    for (const to of machines) {
      const stop = await serveIperf(lab, to.host)
      try {
        for (const from of machines.filter((machine) => machine !== to)) {
          for (const address of [to.v4, to.v6]) {
            expect((await iperf(lab, from.host, address)).bytes).toBeGreaterThan(1_000_000)
          }
        }
      } finally {
        await stop()
      }
    }
  })

  test('a fixed address and leases that start together: the fixed one stays, and a newcomer is told who holds one', async () => {
    const hosts = ['a', 'b', 'c', 'late']
    const { lab, vpn } = onSwitch(hosts)
    const range = '10.77.0.0/28'
    const machines = await Promise.all([
      vpn.start('a', ['--dhcp', `--address=${range}`]),
      vpn.start('b', ['--address=10.77.0.1/28']),
      vpn.start('c', ['--dhcp', `--address=${range}`]),
    ])
    const [a, b, c] = machines
    expect(b.v4).toBe('10.77.0.1')
    await eventually(
      async () => {
        const leased = await Promise.all([a, c].map(leasedBy))
        expect(new Set([...leased, b.v4]).size).toBe(3)
      },
      { withinMs: 30_000 },
    )
    const late = await vpn.mesh.start({
      command: 'vpn',
      token: vpn.token,
      prefix: lab.inside('late', []),
      baseArgs: ['--private', '--dht=false'],
      args: ['--address=10.77.0.1/28'],
    })
    expect(await late.exited).toMatchObject({ code: 6 })
    await expect(late.waitForLine('interface up', 100)).rejects.toThrow(/10\.77\.0\.1 belongs to [^]*move /)
    expect(lab.run('b', ['ip', '-4', 'address', 'show', 'mesh0'])).toContain('10.77.0.1/28')
  })

  test(
    `${MACHINES} machines that start together lease ${MACHINES} addresses, and reach each other directly`,
    async () => {
      const hosts = Array.from({ length: MACHINES }, (_, at) => `m${at}`)
      const { lab, vpn } = onSwitch(hosts)
      const machines: Machine[] = []
      while (machines.length < MACHINES) {
        const group = hosts.slice(machines.length, machines.length + MACHINES_AT_ONCE)
        const args = ['--dhcp', '--address=10.77.0.0/26']
        machines.push(...(await Promise.all(group.map((host) => vpn.start(host, args)))))
      }
      // those who took one before they knew of each other give it up to one of them, and take another
      const allLeased = async () => {
        const found = await Promise.all(machines.map(leasedBy))
        // one that has just given its address up has none for a moment
        for (const address of found) expect(address).toMatch(/^10\.77\.0\.([1-9]|[1-5]\d|6[0-2])$/)
        expect(new Set(found).size).toBe(MACHINES)
      }
      // each look asks all of them
      const within = { withinMs: 60_000 + MACHINES * 3_000, everyMs: MACHINES * 60 }
      await eventually(allLeased, within)
      // of two that one held without knowing of each other a late one may still move
      const pingNow = async (from: Machine, to: Machine) =>
        ping(lab, from.host, (await leasedBy(to)) ?? 'nowhere', { count: 1 })
      for (const from of machines.slice(0, 3)) {
        const others = machines.filter((to) => to !== from)
        await Promise.all(others.map((to) => eventually(() => pingNow(from, to), within)))
        await eventually(async () => {
          for (const to of others) await pingNow(from, to)
          const { Peers } = await from.control.getVpn()
          expect(Peers.map(({ UDP }) => UDP.State)).toEqual(others.map(() => 'direct'))
        }, within)
      }
      await eventually(allLeased, within)
    },
    120_000 + MACHINES * 6_000,
  )

  test('a network behind a member is reached by those who accept it, and by no others', async () => {
    const { lab, vpn } = withPrinter()
    const [a, b, gateway] = await Promise.all([
      vpn.start('a', ['--address=10.1.0.1/24', '--accept-routes']),
      vpn.start('b', ['--address=10.1.0.2/24']),
      vpn.start('gateway', ['--address=10.1.0.3/24', '--advertise-route=192.168.77.0/24']),
    ])
    await expectAllReach(lab, [a, b, gateway])
    await pingSoon(lab, 'a', '192.168.77.9')
    await ping(lab, 'a', '192.168.77.9')
    expect(lab.run('b', ['ip', 'route', 'show'])).not.toContain('192.168.77.0')
    await gateway.stop()
    await eventually(() => expect(lab.run('a', ['ip', 'route', 'show'])).not.toContain('192.168.77.0'), {
      withinMs: 20_000,
      everyMs: 200,
    })
  })

  test('a network that the machine reaches by a route of its own is taken from named members alone', async () => {
    const { lab, vpn } = withPrinter()
    const own = [
      ['-4', '192.168.64.0/18', 'via', '192.168.90.2'],
      ['-6', 'fd99::/32', 'dev', 'eth0'],
    ]
    const route = (action: 'add' | 'del') => {
      for (const [family = '', ...more] of own) lab.run('a', ['ip', family, 'route', action, ...more])
    }
    route('add')
    const gateway = await vpn.start('gateway', [
      '--address=10.1.0.3/24',
      '--advertise-route=192.168.77.0/24,fd99:0:77::/48',
    ])
    const [a, b] = await Promise.all([
      vpn.start('a', ['--address=10.1.0.1/24', '--accept-routes']),
      vpn.start('b', ['--address=10.1.0.2/24', `--accept-routes-from=${gateway.id}`]),
    ])
    const taken = (host: string) =>
      [4, 6].flatMap((family) => {
        const lines = lab.run(host, ['ip', `-${family}`, 'route', 'show', 'dev', 'mesh0']).split('\n')
        return lines.flatMap((line) => /^(?:192\.168|fd99:0:)\S+/.exec(line) ?? [])
      })
    const soon = { withinMs: 40_000, everyMs: 300 }
    const all = ['192.168.77.0/24', 'fd99:0:77::/48']
    lab.run('b', ['ip', 'route', 'add', '192.168.64.0/18', 'via', '192.168.90.1'])
    await eventually(() => expect(taken('b')).toEqual(all), soon)
    const refusals = async ({ control }: Machine) =>
      (await control.getHealth()).Problems.filter(({ Code }) => Code === 'vpn.route_not_taken')
    await eventually(async () => {
      expect(await refusals(a)).toMatchObject([
        { Title: expect.stringMatching(/own: 192\.168\.77\.0\/24 of .*fd99:0:77::\/48/) },
      ])
    }, soon)
    expect(taken('a')).toEqual([])
    expect(await refusals(b)).toEqual([])
    // they go and come while the node runs
    route('del')
    await eventually(() => expect(taken('a')).toEqual(all), soon)
    expect(await refusals(a)).toEqual([])
    route('add')
    await eventually(() => expect(taken('a')).toEqual([]), soon)
    expect(await refusals(a)).toHaveLength(1)
  })

  test('a router gets what nobody owns, and a static peer table replaces the ledger', async () => {
    const { lab, vpn } = withPrinter()
    const gateway = await vpn.start('gateway', ['--address=10.1.0.3/24', '--advertise-route=192.168.77.0/24'])
    const [a, b] = await Promise.all([
      vpn.start('a', ['--address=10.1.0.1/24', '--router=10.1.0.3']),
      vpn.start('b', ['--address=10.1.0.2/24', `--static-peertable=10.1.0.3:${gateway.id}`]),
    ])
    lab.run('a', ['ip', 'route', 'add', '192.168.77.0/24', 'dev', 'mesh0'])
    await pingSoon(lab, 'a', '192.168.77.9')
    await pingSoon(lab, 'b', gateway.v4)
    await pingSoon(lab, 'a', gateway.v4)
    expect(await peerOf(b, gateway)).toMatchObject({ Way: 'sealed' })
    // a is in the ledger, but not in b's table
    expect(await peerOf(b, a)).toBeUndefined()
    await expect(ping(lab, 'b', a.v4, { count: 1 })).rejects.toThrow('100% packet loss')
  })
})
