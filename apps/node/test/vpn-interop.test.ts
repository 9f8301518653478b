/**
 * One network of two of ours and one EdgeVPN node, each with an interface: pings between all pairs, before and after
 * two rotations of the keys. Runs where EDGEVPN_BIN names the binary.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { delay, systemClock } from '@mesh/core'
import { bridge, createLab, eventually } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { startEdgevpn, whyNoEdgevpn } from './edgevpn.ts'
import { startProber } from './probe-lab.ts'
import { createVpnLab, iperf, ping, pingSoon, serveIperf, whyNoVpn } from './vpn-lab.ts'
import { createCleanUps } from './suite.ts'

const INTERVAL_S = 20
const OURS = ['--aliveness-healthcheck-interval=5s', '--ownership-ttl=24s']
const THEIRS = ['--aliveness-healthcheck-interval', '5', '--ownership-ttl', '24']
const THEIR_ADDRESS = '10.1.0.3'

const why = whyNoEdgevpn() ?? whyNoVpn(['ip', 'ping', 'iperf3', 'curl'])
const suite = why === undefined ? 'a mixed VPN' : `a mixed VPN (skipped: ${why})`

const cleanUps = createCleanUps()

describe.skipIf(why !== undefined)(suite, () => {
  test('two of ours and an EdgeVPN node ping each other through two rotations', {
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
    const edgevpn = await startEdgevpn({
      token: vpn.token,
      apiPort: 18095,
      vpnAddress: `${THEIR_ADDRESS}/24`,
      prefix: lab.inside('theirs', []),
      args: THEIRS,
    })
    cleanUps.push(() => edgevpn.stop())
    const places = [
      { host: 'a', v4: a.v4 },
      { host: 'b', v4: b.v4 },
      { host: 'theirs', v4: THEIR_ADDRESS },
    ]
    const pairs = places.flatMap((from) => places.filter((to) => to !== from).map((to) => ({ from, to })))
    const reachAll = () => Promise.all(pairs.map(({ from, to }) => pingSoon(lab, from.host, to.v4, 90_000)))
    await reachAll()
    for (const { from, to } of pairs) await ping(lab, from.host, to.v4, { count: 5 })
    // EdgeVPN ends its connections when it likes, and packets open another
    await eventually(
      async () => {
        await ping(lab, 'a', THEIR_ADDRESS, { count: 1 })
        const { Peers } = await a.control.getVpn()
        expect(Peers.map(({ PeerID }) => PeerID)).toContain(edgevpn.id)
        expect(Peers.find(({ PeerID }) => PeerID === edgevpn.id)).toMatchObject({ Way: 'plain', MTU: 1200 })
        expect(Peers.find(({ PeerID }) => PeerID === b.id)).toMatchObject({ Way: 'sealed' })
      },
      { withinMs: 20_000 },
    )
    // longer ones than EdgeVPN carries: it must be told
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
        expect((await iperf(lab, host, to, ['-t', '2'])).bytes).toBeGreaterThan(50_000)
      } finally {
        await stop()
      }
    }

    await delay(systemClock, 2.5 * INTERVAL_S * 1000)
    await reachAll()
    for (const { from, to } of pairs) await ping(lab, from.host, to.v4, { count: 5 })
  })

  test('with keys that never rotate, as in tokens of Kairos, writes and packets pass, before and after restarts', {
    timeout: 240_000,
  }, async () => {
    const hosts = ['a', 'b', 'theirs']
    const lab = createLab(['switch', ...hosts])
    const vpn = createVpnLab(lab, 2n ** 63n - 1n)
    cleanUps.push(() => vpn.close())
    bridge(lab, 'switch', Object.fromEntries(hosts.map((host, at) => [host, [`192.168.98.${at + 1}/24`]])))
    const start = () =>
      startEdgevpn({
        token: vpn.token,
        apiPort: 18098,
        vpnAddress: `${THEIR_ADDRESS}/24`,
        prefix: lab.inside('theirs', []),
        args: THEIRS,
      })
    const a = await vpn.start('a', ['--address=10.1.0.1/24', ...OURS])
    let b = await vpn.start('b', ['--address=10.1.0.2/24', ...OURS])
    let edgevpn = await start()
    cleanUps.push(() => edgevpn.stop())
    const passes = async (value: string) => {
      await edgevpn.ask('PUT', `/api/ledger/notes/theirs/${value}`)
      await a.control.putText({ bucket: 'notes', key: 'ours', value })
      await eventually(
        async () => {
          expect(await b.control.getBucket({ bucket: 'notes' })).toEqual({ ours: value, theirs: value })
          expect((await edgevpn.ask('GET', '/api/ledger/notes/ours')).json).toBe(JSON.stringify(value))
        },
        { withinMs: 60_000, everyMs: 250 },
      )
      for (const host of ['a', 'theirs']) await pingSoon(lab, host, b.v4, 60_000)
      await pingSoon(lab, 'a', THEIR_ADDRESS, 60_000)
    }
    await passes('first')
    await edgevpn.stop()
    edgevpn = await start()
    await b.stop()
    b = await vpn.start('b', ['--address=10.1.0.2/24', ...OURS], { stateDir: b.stateDir })
    await passes('second')
  })

  test("an EdgeVPN node is held to a node's rules, and sees its services and routes as before", {
    timeout: 120_000,
  }, async () => {
    const lab = createLab(['switch', 'ours', 'theirs'])
    const vpn = createVpnLab(lab)
    cleanUps.push(() => vpn.close())
    bridge(lab, 'switch', { ours: ['192.168.99.1/24'], theirs: ['192.168.99.2/24'] })
    const rules = join(vpn.mesh.makeFolder(), 'rules.yaml')
    writeFileSync(rules, 'allow: [{ from: ["*"], to: ["*"], on: [tcp:8000] }]')
    const ours = await vpn.start('ours', [
      '--address=10.1.0.1/24',
      `--rules=${rules}`,
      '--service-add=shop=127.0.0.1:8001',
      '--advertise-route=192.168.77.0/24',
      ...OURS,
    ])
    const edgevpn = await startEdgevpn({
      token: vpn.token,
      apiPort: 18099,
      vpnAddress: `${THEIR_ADDRESS}/24`,
      prefix: lab.inside('theirs', []),
      args: THEIRS,
    })
    cleanUps.push(() => edgevpn.stop())
    const [server, client] = [
      await startProber(lab, 'ours', ['tcp:8000', 'tcp:8001']),
      await startProber(lab, 'theirs', ['tcp:22']),
    ]
    cleanUps.push(
      () => server.stop(),
      () => client.stop(),
    )
    const at = (port: number) => client.ask({ on: 'tcp', address: ours.v4, port })
    await eventually(async () => expect(await at(8_000)).toBe('answered'), { withinMs: 60_000, everyMs: 500 })
    expect(await at(8_001)).toBe('refused')
    await expect(ping(lab, 'theirs', ours.v4, { count: 1 })).rejects.toThrow(/0 received/)
    // what this node begins is answered
    expect(await server.ask({ on: 'tcp', address: THEIR_ADDRESS, port: 22 })).toBe('answered')
    await eventually(
      async () => {
        const { json } = await edgevpn.ask('GET', '/api/services')
        expect(json).toContainEqual(expect.objectContaining({ Name: 'shop', PeerID: ours.id }))
        expect((await edgevpn.ask('GET', '/api/ledger/routes')).json).toBeTruthy()
      },
      { withinMs: 30_000, everyMs: 250 },
    )
    // they are told once a second
    await eventually(
      async () => {
        const { Refused } = await ours.control.getRules()
        expect(Refused.some(({ Count }) => Count > 0)).toBe(true)
      },
      { withinMs: 5_000, everyMs: 100 },
    )
  })

  test('around a hub of ours that alone is known, our leaf and the EdgeVPN nodes find each other', {
    timeout: 240_000,
  }, async () => {
    const hosts = ['hub', 'leaf', 'their1', 'their2']
    const lab = createLab(['switch', ...hosts])
    const vpn = createVpnLab(lab)
    cleanUps.push(() => vpn.close())
    bridge(lab, 'switch', Object.fromEntries(hosts.map((host, at) => [host, [`192.168.96.${at + 1}/24`]])))
    const alone = ['--mdns=false', '--listen-maddrs=/ip4/0.0.0.0/tcp/4096']
    const hub = await vpn.start('hub', ['--address=10.1.0.1/24', ...alone, ...OURS])
    const bootstrap = `--discovery-bootstrap-peers=/ip4/192.168.96.1/tcp/4096/p2p/${hub.id}`
    const leaf = await vpn.start('leaf', ['--address=10.1.0.2/24', bootstrap, ...alone, ...OURS])
    const theirs = await Promise.all(
      ['their1', 'their2'].map(async (host, at) => {
        const v4 = `10.1.0.${at + 3}`
        const edgevpn = await startEdgevpn({
          token: vpn.token,
          apiPort: 18096 + at,
          vpnAddress: `${v4}/24`,
          prefix: lab.inside(host, []),
          args: ['--mdns=false', bootstrap, ...THEIRS],
        })
        cleanUps.push(() => edgevpn.stop())
        return { host, v4 }
      }),
    )
    await Promise.all(
      theirs.flatMap(({ host, v4 }) => [
        pingSoon(lab, 'leaf', v4, 60_000),
        pingSoon(lab, host, leaf.v4, 60_000),
        pingSoon(lab, 'hub', v4, 60_000),
        pingSoon(lab, 'leaf', hub.v4, 60_000),
      ]),
    )
    for (const { host, v4 } of theirs) {
      await ping(lab, 'leaf', v4, { count: 5 })
      await ping(lab, host, leaf.v4, { count: 5 })
    }
    const { Peers } = await leaf.control.getVpn()
    expect(Peers.filter(({ Way }) => Way === 'plain')).toHaveLength(2)
  })
})
