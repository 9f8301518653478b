/** Machines whose VPN interface has IPv4 only: those where IPv6 is switched off, and those with a small MTU. */
import { bridge, createLab, eventually, type Lab } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createVpnLab, type Machine, ping, pingSoon, type VpnLab, whyNoVpn } from './vpn-lab.ts'

const why = whyNoVpn(['ip', 'ping', 'sysctl'])
const suite = why === undefined ? 'a VPN without IPv6' : `a VPN without IPv6 (skipped: ${why})`

describe.skipIf(why !== undefined)(suite, () => {
  let lab: Lab
  let vpn: VpnLab
  let [both, off, small] = [] as unknown as [Machine, Machine, Machine]

  beforeAll(async () => {
    lab = createLab(['switch', 'both', 'off', 'small'])
    vpn = createVpnLab(lab)
    bridge(lab, 'switch', {
      both: ['192.168.90.1/24'],
      off: ['192.168.90.2/24'],
      small: ['192.168.90.3/24'],
    })
    lab.run('off', ['sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1'])
    ;[both, off, small] = await Promise.all([
      vpn.start('both', ['--address=10.1.0.1/24']),
      vpn.start('off', ['--address=10.1.0.2/24']),
      vpn.start('small', ['--address=10.1.0.3/24', '--mtu=576']),
    ])
    await Promise.all([off, small].map(({ v4 }) => pingSoon(lab, 'both', v4)))
  }, 60_000)
  afterAll(() => vpn.close())

  test('a machine where IPv6 is switched off has IPv4, and says what is missing and how to switch it on', async () => {
    expect([off.v4, off.v6]).toEqual(['10.1.0.2', ''])
    await ping(lab, 'off', both.v4)
    await off.waitForLine('interface has IPv4 only', 1_000)
    const told = expect.stringContaining('sysctl -w net.ipv6.conf.default.disable_ipv6=0')
    const { Problems } = await off.control.getHealth()
    expect(Problems).toContainEqual(expect.objectContaining({ Code: 'vpn.no_ipv6', Hint: told }))
    const environment = { MESHTOKEN: vpn.token }
    const doctor = (stateDir: string) =>
      vpn.mesh.run(['doctor'], {
        prefix: lab.inside('off', []),
        environment: { ...environment, MESHSTATEDIR: stateDir },
      })
    // with a running node, and without one
    for (const stateDir of [off.stateDir, vpn.mesh.makeFolder()])
      expect((await doctor(stateDir)).stdout).toEqual(told)
    const listed = await both.control.listMachines()
    expect(listed.find(({ PeerID }) => PeerID === off.id)?.Addresses).toEqual(['10.1.0.2'])
  })

  test('an IPv6 address is refused there, with the reason', async () => {
    const refused = async (args: readonly string[], host: string) => {
      const environment = { MESHTOKEN: vpn.token, MESHSTATEDIR: vpn.mesh.makeFolder() }
      const options = { prefix: lab.inside(host, []), environment }
      return vpn.mesh.run(['--private', '--mdns=false', '--interface=other', ...args], options)
    }
    const [whereOff, whereSmall] = await Promise.all([
      refused(['--address=fd00:1::2/64'], 'off'),
      refused(['--address=fd00:1::3/64', '--mtu=1200'], 'both'),
    ])
    expect(whereOff.stderr).toMatch(/fd00:1::2\/64 .*IPv6 is switched off[^]*sysctl -w/)
    expect(whereSmall.stderr).toMatch(/fd00:1::3\/64 .*1280 bytes[^]*--mtu 1280/)
    expect([whereOff.code, whereSmall.code]).toEqual([6, 6])
  })

  test('with an MTU below 1280 packets of that size pass over UDP, and no longer ones', async () => {
    expect([small.v4, small.v6]).toEqual(['10.1.0.3', ''])
    await small.waitForLine('interface has IPv4 only', 1_000)
    expect(lab.run('small', ['ip', 'link', 'show', 'mesh0'])).toContain('mtu 576')
    await ping(lab, 'small', both.v4, { count: 1, size: 576 - 28 })
    await expect(ping(lab, 'small', both.v4, { count: 1, size: 577 - 28 })).rejects.toThrow(/too long|mtu/i)
    await expect(ping(lab, 'both', small.v4, { count: 1, size: 577 - 28 })).rejects.toThrow(
      /frag|mtu|too long/i,
    )
    await eventually(
      async () => {
        const { Peers } = await small.control.getVpn()
        const peer = Peers.find(({ PeerID }) => PeerID === both.id)
        expect(peer).toMatchObject({ MTU: 576, UDP: { State: 'direct', Reason: null } })
      },
      { withinMs: 20_000, everyMs: 200 },
    )
    expect((await small.control.getHealth()).Problems).toEqual([])
  })
})
