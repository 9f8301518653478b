/** Ports and addresses that a node cannot have, as where two nodes of one machine are given the same. */
import { createLab, type Lab } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createVpnLab, type VpnLab, whyNoVpn } from './vpn-lab.ts'

const why = whyNoVpn(['ip'])
const suite = why === undefined ? 'ports that are taken' : `ports that are taken (skipped: ${why})`

describe.skipIf(why !== undefined)(suite, () => {
  let lab: Lab
  let vpn: VpnLab

  beforeAll(async () => {
    lab = createLab(['a'])
    vpn = createVpnLab(lab)
    await vpn.start('a', [
      '--address=10.1.0.1/24',
      '--udp-port=42100',
      '--listen-maddrs=/ip4/0.0.0.0/tcp/42101',
    ])
  }, 60_000)
  afterAll(() => vpn.close())

  test.each([
    ['--udp-port=42100', /another program has UDP port 42100 .*port_in_use[^]*--udp-port[^]*ss -lunp/],
    ['--listen-maddrs=/ip4/0.0.0.0/tcp/42101', /tcp\/42101: another program has TCP port 42101[^]*ss -lntp/],
    [
      '--listen-maddrs=/ip4/10.5.5.5/tcp/42102',
      /no address 10\.5\.5\.5[^]*--listen-maddrs \/ip4\/0\.0\.0\.0\/tcp\/42102/,
    ],
  ])('%s is refused with the reason and the next step', async (option, told) => {
    const environment = { MESHTOKEN: vpn.token, MESHSTATEDIR: vpn.mesh.makeFolder() }
    const prefix = lab.inside('a', [])
    const args = ['--private', '--mdns=false', '--interface=other', '--address=10.7.0.1/24', option]
    const { code, stderr } = await vpn.mesh.run(args, { prefix, environment })
    expect(stderr).toMatch(told)
    expect(stderr).not.toMatch(/faultTolerance|because|os error/)
    expect(code).toBe(1)
  })
})
