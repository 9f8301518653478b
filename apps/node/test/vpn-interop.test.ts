/**
 * One network of two of ours and one original node, each with an interface: pings between all pairs, before and after
 * two rotations of the keys. Runs where EDGEVPN_BIN names the original's binary.
 */
import { delay, systemClock } from '@mesh/core'
import { engineSupport } from '@mesh/engine'
import { bridge, createLab, whyNoNamespaces } from '@mesh/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { startEdgevpn, whyNoEdgevpn } from './edgevpn.ts'
import { createVpnLab, iperf, ping, pingSoon, serveIperf } from './vpn-lab.ts'

const INTERVAL_S = 20
const OURS = ['--aliveness-healthcheck-interval=5s', '--ownership-ttl=24s']
const THEIRS = ['--aliveness-healthcheck-interval', '5', '--ownership-ttl', '24']
const THEIR_ADDRESS = '10.1.0.3'

const support = engineSupport()
const why =
  whyNoEdgevpn() ??
  whyNoNamespaces(['ip', 'ping', 'iperf3', 'curl']) ??
  (support.supported ? undefined : support.message)
const suite = why === undefined ? 'a mixed VPN' : `a mixed VPN (skipped: ${why})`

const cleanUps: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

describe.skipIf(why !== undefined)(suite, () => {
  test('two of ours and an original ping each other through two rotations', {
    timeout: 240_000,
  }, async () => {
    const hosts = ['a', 'b', 'theirs']
    const lab = createLab(['switch', ...hosts])
    const vpn = createVpnLab(lab, INTERVAL_S)
    cleanUps.push(() => vpn.close())
    bridge(lab, 'switch', Object.fromEntries(hosts.map((host, at) => [host, [`192.168.95.${at + 1}/24`]])))
    const [a, b] = await Promise.all([
      vpn.start('a', ['--address=10.1.0.1/24', ...OURS]),
      vpn.start('b', ['--address=10.1.0.2/24', ...OURS]),
    ])
    const original = await startEdgevpn({
      token: vpn.token,
      apiPort: 18095,
      vpnAddress: `${THEIR_ADDRESS}/24`,
      prefix: lab.inside('theirs', []),
      args: THEIRS,
    })
    cleanUps.push(() => original.stop())
    const places = [
      { host: 'a', v4: a.v4 },
      { host: 'b', v4: b.v4 },
      { host: 'theirs', v4: THEIR_ADDRESS },
    ]
    const pairs = places.flatMap((from) => places.filter((to) => to !== from).map((to) => ({ from, to })))
    const reachAll = () => Promise.all(pairs.map(({ from, to }) => pingSoon(lab, from.host, to.v4, 90_000)))
    await reachAll()
    for (const { from, to } of pairs) await ping(lab, from.host, to.v4, { count: 5 })
    const { Peers } = await a.control.getVpn()
    expect(Peers.find(({ PeerID }) => PeerID === original.id)).toMatchObject({ Way: 'plain', MTU: 1200 })
    expect(Peers.find(({ PeerID }) => PeerID === b.id)).toMatchObject({ Way: 'sealed' })
    // longer ones than the original carries: it must be told
    await ping(lab, 'a', THEIR_ADDRESS, { count: 3, size: 1172 })
    await expect(ping(lab, 'a', THEIR_ADDRESS, { count: 1, size: 1173 })).rejects.toThrow(
      /mtu|frag|too long/i,
    )
    for (const [host, to] of [
      ['theirs', a.v4],
      ['a', THEIR_ADDRESS],
    ] as const) {
      const stop = await serveIperf(lab, host === 'a' ? 'theirs' : 'a')
      try {
        expect((await iperf(lab, host, to, ['-t', '2'])).bytes).toBeGreaterThan(500_000)
      } finally {
        await stop()
      }
    }

    await delay(systemClock, 2.5 * INTERVAL_S * 1000)
    await reachAll()
    for (const { from, to } of pairs) await ping(lab, from.host, to.v4, { count: 5 })
  })
})
