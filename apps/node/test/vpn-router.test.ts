/** Routers of a network behind them (`--advertise-route`) that pass nothing on, and say why. */
import { bridge, createLab, eventually, type Lab } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createVpnLab, type Machine, ping, pingSoon, type VpnLab, whyNoVpn } from './vpn-lab.ts'

const why = whyNoVpn(['ip', 'ping', 'nft'])
const suite = why === undefined ? 'routers that cannot route' : `routers that cannot route (skipped: ${why})`

/** The rules of Docker, as `nft list ruleset` shows them. */
const DOCKER = `table ip filter {
  chain DOCKER-USER { }
  chain FORWARD { type filter hook forward priority filter; policy drop; jump DOCKER-USER; }
}`
const SOON = { withinMs: 15_000, everyMs: 200 }

describe.skipIf(why !== undefined)(suite, () => {
  let lab: Lab
  let vpn: VpnLab
  let [a, first, second] = [] as unknown as [Machine, Machine, Machine]

  beforeAll(async () => {
    lab = createLab(['switch', 'a', 'first', 'second', 'printer'])
    vpn = createVpnLab(lab)
    bridge(lab, 'switch', {
      a: ['192.168.90.1/24'],
      first: ['192.168.90.2/24', '192.168.77.1/24'],
      second: ['192.168.90.3/24', '192.168.77.2/24'],
      printer: ['192.168.77.9/24'],
    })
    lab.run('printer', ['ip', 'route', 'add', '10.1.0.0/24', 'via', '192.168.77.1'])
    for (const host of ['first', 'second']) lab.run(host, ['sysctl', '-qw', 'net.ipv4.ip_forward=1'])
    lab.run('first', ['nft', DOCKER])
    const router = ['--advertise-route=192.168.77.0/24']
    ;[a, first] = await Promise.all([
      vpn.start('a', ['--address=10.1.0.1/24', '--accept-routes']),
      vpn.start('first', ['--address=10.1.0.2/24', '--name=first', ...router]),
    ])
    await pingSoon(lab, 'a', '192.168.77.1')
    second = await vpn.start('second', ['--address=10.1.0.3/24', `${router[0]},metric=10`])
  }, 60_000)
  afterAll(() => vpn.close())

  const problemOf = async ({ control }: Machine, code: string) =>
    (await control.getHealth()).Problems.find(({ Code }) => Code === code)

  test('a firewall that drops forwarded packets is told on the router, with what lets them pass', async () => {
    await expect(ping(lab, 'a', '192.168.77.9', { count: 1 })).rejects.toThrow('100% packet loss')
    expect(await problemOf(first, 'vpn.route_firewall')).toMatchObject({
      Title: expect.stringMatching(/firewall drops .* \(chain FORWARD\).*--advertise-route/),
      Hint: expect.stringContaining('iptables -I DOCKER-USER -i mesh0 -j ACCEPT'),
    })
    expect(first.lines.some(({ message }) => message.includes('(chain FORWARD)'))).toBe(true)
    expect(await problemOf(second, 'vpn.route_firewall')).toBeUndefined()
    for (const way of ['iifname', 'oifname'])
      lab.run('first', ['nft', 'add', 'rule', 'ip', 'filter', 'DOCKER-USER', way, 'mesh0', 'accept'])
    await ping(lab, 'a', '192.168.77.9', { count: 1 })
  })

  test('a second router of a network stands by behind the first one, and takes over when that one stops', async () => {
    await eventually(async () => {
      const { Routes } = await second.control.getVpn()
      expect(Routes.Own).toEqual([
        { CIDR: '192.168.77.0/24', Metric: 10, State: 'standby', Others: [first.id] },
      ])
      const { Accepted } = (await a.control.getVpn()).Routes
      expect(Accepted).toMatchObject([{ PeerID: first.id, Standby: [second.id] }])
    }, SOON)
    const environment = { MESHSTATEDIR: second.stateDir, MESHTOKEN: vpn.token }
    expect((await vpn.mesh.run(['status'], { environment })).stdout).toContain(
      'advertises 192.168.77.0/24 (standby, also by ',
    )
    await first.stop()
    await eventually(async () => {
      expect((await second.control.getVpn()).Routes.Own).toMatchObject([{ State: 'active', Others: [] }])
      const { Peers } = await a.control.getVpn()
      expect(Peers.find(({ PeerID }) => PeerID === second.id)?.Routes).toEqual(['192.168.77.0/24'])
    }, SOON)
    await pingSoon(lab, 'a', '192.168.77.2')
  })
})
