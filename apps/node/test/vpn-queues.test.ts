/**
 * Machines whose interfaces have several queues, each with a thread each way, beside one that has a single one: on real
 * TUN devices, over UDP.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bridge, createLab, eventually, type Lab } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createVpnLab,
  iperf,
  type Machine,
  ping,
  pingSoon,
  serveIperf,
  type VpnLab,
  whyNoVpn,
} from './vpn-lab.ts'
import { suiteName } from './suite.ts'

const why = whyNoVpn(['ip', 'ping', 'iperf3', 'ss'])

const HOSTS = ['hub', 'a', 'b', 'c'] as const
const QUEUES = { hub: 2, a: 2, b: 2, c: 1 }
const PORT = '4777'

describe.skipIf(why !== undefined)(suiteName('interfaces with several queues', why), () => {
  let lab: Lab
  let vpn: VpnLab
  let machines: readonly Machine[]
  let [hub, others] = [] as unknown as [Machine, readonly Machine[]]

  beforeAll(async () => {
    lab = createLab(['switch', ...HOSTS])
    vpn = createVpnLab(lab)
    bridge(lab, 'switch', Object.fromEntries(HOSTS.map((host, at) => [host, [`192.168.90.${at + 1}/24`]])))
    const start = (host: keyof typeof QUEUES, ...args: readonly string[]) =>
      vpn.start(host, [
        `--address=10.1.0.${HOSTS.indexOf(host) + 1}/24`,
        `--udp-port=${PORT}`,
        `--tun-queues=${QUEUES[host]}`,
        ...args,
      ])
    hub = await start('hub')
    const known = hub.addresses.filter((address) => address.includes('/192.168.90.1/tcp/'))
    const bootstrap = `--discovery-bootstrap-peers=${known.join(',')}`
    others = await Promise.all((['a', 'b', 'c'] as const).map((host) => start(host, bootstrap)))
    machines = [hub, ...others]
  }, 120_000)
  afterAll(() => vpn.close())

  test('each has as many queues, sockets on its port and threads each way as it was told', () => {
    for (const [host, count] of Object.entries(QUEUES)) {
      const machine = machines.find((each) => each.host === host)
      const queues = lab.run(host, ['ls', '/sys/class/net/mesh0/queues']).match(/tx-\d+/g)?.length
      const sockets = lab.run(host, ['ss', '-Hunl', 'sport', '=', PORT]).trim().split('\n').length
      const threads = threadsOf(machine?.pid ?? 0)
      const named = (name: string) => threads.filter((thread) => thread === name).length
      const [out, udp, streams] = [named('mesh-out'), named('mesh-udp'), named('mesh-in')]
      const expected = { host, queues: count, sockets: count, out: count, udp: count, streams: 1 }
      expect({ host, queues, sockets, out, udp, streams }).toEqual(expected)
    }
  })

  test('all of them reach each other, over UDP', async () => {
    const pairs = machines.flatMap((from) =>
      machines.filter((to) => to !== from).map((to) => [from, to] as const),
    )
    await Promise.all(pairs.map(([from, to]) => pingSoon(lab, from.host, to.v4)))
    await eventually(async () => {
      for (const { control } of machines) {
        const { Peers } = await control.getVpn()
        expect(Peers.map(({ UDP }) => UDP.State)).toEqual(['direct', 'direct', 'direct'])
      }
    })
    await Promise.all(pairs.map(([from, to]) => ping(lab, from.host, to.v4, { size: 1200 })))
    await Promise.all(pairs.map(([from, to]) => ping(lab, from.host, to.v6)))
  })

  test('carries four streams of TCP to several peers and from them at once', async () => {
    const servers = await Promise.all(others.map(({ host }) => serveIperf(lab, host)))
    try {
      for (const way of [[], ['-R']]) {
        const streams = others.map(({ v4 }) => iperf(lab, hub.host, v4, ['-P', '4', '-t', '2', ...way]))
        for (const { bitsPerSecond } of await Promise.all(streams))
          expect(bitsPerSecond).toBeGreaterThan(20e6)
      }
    } finally {
      for (const stop of servers) await stop()
    }
  })

  test('gives the interface and the port back at its end', async () => {
    const { code } = await hub.stop()
    expect(code).toBe(0)
    expect(lab.run('hub', ['ip', '-o', 'link'])).not.toContain('mesh0')
    expect(lab.run('hub', ['ss', '-Hunl', 'sport', '=', PORT])).toBe('')
    const args = ['--address=10.1.0.1/24', `--udp-port=${PORT}`, '--tun-queues=3']
    const again = await vpn.start('hub', args, { stateDir: hub.stateDir })
    await pingSoon(lab, 'a', again.v4)
  })
})

/** The names of a process's threads. */
function threadsOf(pid: number): string[] {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).map((task) => readFileSync(join(tasks, task, 'comm'), 'utf8').trim())
}
