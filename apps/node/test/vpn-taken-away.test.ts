/** Other programs take away what the VPN's interface needs, and bring networks with its range, while the node runs. */
import { bridge, createLab, eventually, type Lab } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createVpnLab, type Machine, ping, pingSoon, type VpnLab, whyNoVpn } from './vpn-lab.ts'

const why = whyNoVpn(['ip', 'ping', 'sysctl'])
const suite =
  why === undefined ? 'an interface that others change' : `an interface that others change (skipped: ${why})`

const SOON = { withinMs: 5_000, everyMs: 50 }

describe.skipIf(why !== undefined)(suite, () => {
  let lab: Lab
  let vpn: VpnLab
  let [a, router] = [] as unknown as [Machine, Machine]

  beforeAll(async () => {
    lab = createLab(['switch', 'a', 'router'])
    vpn = createVpnLab(lab)
    bridge(lab, 'switch', { a: ['192.168.90.1/24'], router: ['192.168.90.2/24'] })
    lab.run('router', ['ip', 'addr', 'add', '192.168.77.1/32', 'dev', 'lo'])
    ;[a, router] = await Promise.all([
      vpn.start('a', ['--address=10.1.0.1/24', '--accept-routes']),
      vpn.start('router', ['--address=10.1.0.2/24', '--advertise-route=192.168.77.0/24']),
    ])
    await pingSoon(lab, 'a', '192.168.77.1')
  }, 60_000)
  afterAll(() => vpn.close())

  const ip = (...words: string[]) => lab.run('a', ['ip', ...words])
  const problemOf = async (code: string) =>
    (await a.control.getHealth()).Problems.find(({ Code }) => Code === code)

  async function expectWhole(): Promise<void> {
    await eventually(() => {
      expect(ip('addr', 'show', 'mesh0')).toMatch(
        /[<,]UP[,>].* mtu 1280[^]* inet 10\.1\.0\.1\/24[^]* inet6 fd/,
      )
      const routes = `${ip('route')}${ip('-6', 'route')}`
      for (const to of ['10.1.0.0/24', '192.168.77.0/24', 'fd\\S+/64'])
        expect(routes).toMatch(new RegExp(`^${to} dev mesh0 `, 'm'))
    }, SOON)
    for (const to of [router.v4, router.v6, '192.168.77.1']) await ping(lab, 'a', to, { count: 1 })
  }

  test('addresses, routes, MTU and state come back at once, and the log says so', async () => {
    await expectWhole()
    for (const words of [
      ['addr', 'flush', 'dev', 'mesh0'],
      ['route', 'flush', 'dev', 'mesh0'],
      ['-6', 'route', 'flush', 'dev', 'mesh0'],
      ['link', 'set', 'mesh0', 'mtu', '1000', 'down'],
    ]) {
      ip(...words)
      await expectWhole()
    }
    const line = await a.waitForLine('interface put right: another program had changed it', 1_000)
    expect(line['restored']).toEqual([
      'address 10.1.0.1/24',
      expect.stringMatching(/^address fd/),
      'route 192.168.77.0/24',
    ])
    expect((await a.control.getHealth()).Problems).toEqual([])
  })

  test('what the kernel refuses to put back is told until it is there', async () => {
    lab.run('a', ['sysctl', '-qw', 'net.ipv6.conf.mesh0.disable_ipv6=1'])
    await eventually(async () => {
      expect((await problemOf('vpn.interface_changed'))?.Title).toMatch(/address fd\S+: IPv6 is switched off/)
    }, SOON)
    await ping(lab, 'a', router.v4, { count: 1 })
    lab.run('a', ['sysctl', '-qw', 'net.ipv6.conf.mesh0.disable_ipv6=0'])
    await eventually(async () => expect(await problemOf('vpn.interface_changed')).toBeUndefined(), {
      withinMs: 15_000,
      everyMs: 200,
    })
    await expectWhole()
  })

  test("a network with the VPN's range that appears while the node runs is told, and its end too", async () => {
    // the end of a cable whose other end is in this machine, too
    ip('link', 'add', 'lan', 'type', 'veth', 'peer', 'name', 'plug')
    for (const end of ['lan', 'plug']) ip('link', 'set', end, 'up')
    ip('addr', 'add', '10.1.0.200/24', 'dev', 'lan')
    await eventually(async () => {
      expect(await problemOf('vpn.address_in_use')).toMatchObject({
        Severity: 'error',
        Title: expect.stringMatching(/10\.1\.0\.0\/24 of lan overlaps/),
        Hint: expect.stringContaining('--address 10.77.0.11/24'),
      })
    }, SOON)
    expect(
      a.lines.some(({ level, message }) => level === 'error' && message.includes('of lan overlaps')),
    ).toBe(true)
    const environment = { MESHSTATEDIR: a.stateDir, MESHTOKEN: vpn.token }
    for (const command of ['status', 'doctor']) {
      const { stdout } = await vpn.mesh.run([command], { environment, prefix: lab.inside('a', []) })
      expect(stdout).toContain('of lan overlaps')
    }
    ip('link', 'del', 'lan')
    await eventually(async () => expect(await problemOf('vpn.address_in_use')).toBeUndefined(), SOON)
  })

  test('a program that takes away again and again is told, and left alone after a few times', async () => {
    await eventually(
      async () => {
        ip('addr', 'flush', 'dev', 'mesh0')
        expect((await problemOf('vpn.interface_changed'))?.Title).toContain(
          'again and again: address 10.1.0.1/24',
        )
      },
      { withinMs: 10_000, everyMs: 250 },
    )
    ip('addr', 'flush', 'dev', 'mesh0')
    expect((await a.control.getHealth()).Problems[0]?.Hint).toContain('ip monitor')
  })
})
