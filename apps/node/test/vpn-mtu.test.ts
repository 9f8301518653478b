/** A path whose routers drop what is too long and do not say so, which narrows and widens while packets pass. */
import { createLab, eventually, type Lab, NAT_UDP_PORT } from '@mesh/testkit'
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

const why = whyNoVpn(['ip', 'nft', 'ping', 'iperf3', 'ss', 'ethtool'])
const suite = why === undefined ? 'a path that narrows' : `a path that narrows (skipped: ${why})`

/** The longest packet of the VPN, and the payload of a ping that is one. */
const MTU = 8_900
const LONG_PING = MTU - 28
/** How long a node may take to see that packets pass again that are longer: 30 s, and what the probes take. */
const WIDER_WITHIN_MS = 45_000

describe.skipIf(why !== undefined)(suite, () => {
  let lab: Lab
  let vpn: VpnLab
  let left: Machine
  let right: Machine

  beforeAll(async () => {
    lab = createLab(['left', 'router', 'right'])
    vpn = createVpnLab(lab)
    for (const [host, net] of [
      ['left', 1],
      ['right', 2],
    ] as const) {
      lab.wire(
        { host, device: 'eth0', addresses: [`192.168.${net}.2/24`] },
        { host: 'router', device: `to${host}`, addresses: [`192.168.${net}.1/24`] },
      )
      widen(host, 'eth0')
      widen('router', `to${host}`)
      lab.run(host, ['ip', 'route', 'add', 'default', 'via', `192.168.${net}.1`])
    }
    lab.run('router', ['sysctl', '-qw', 'net.ipv4.ip_forward=1'])
    const args = ['--mdns=false', `--udp-port=${NAT_UDP_PORT}`, `--mtu=${MTU}`]
    left = await vpn.start('left', [...args, '--address=10.1.0.1/24'])
    const bootstrap = left.addresses.filter((address) => address.includes('/192.168.1.2/tcp/'))
    right = await vpn.start('right', [
      ...args,
      '--address=10.1.0.2/24',
      `--discovery-bootstrap-peers=${bootstrap.join(',')}`,
    ])
    await pingSoon(lab, 'left', right.v4, 60_000)
  }, 120_000)
  afterAll(() => vpn.close())

  /** Lets a device carry jumbo frames, each of them one packet on the wire. */
  function widen(host: string, device: string): void {
    setMtu(host, device, 9_000)
    const joined = ['tso', 'gso', 'gro', 'tx-udp-segmentation'].flatMap((feature) => [feature, 'off'])
    lab.run(host, ['ethtool', '-K', device, ...joined])
  }

  function setMtu(host: string, device: string, mtu: number): void {
    lab.run(host, ['ip', 'link', 'set', device, 'mtu', String(mtu)])
  }

  /**
   * Has the router send no longer packets on, cut where they may be. Its devices still take longer ones: the end of a cable
   * in here drops what is longer than its own MTU, which no router in the way of real ones does.
   */
  function narrowRoutes(mtu: number): void {
    for (const [device, net] of [
      ['toleft', 1],
      ['toright', 2],
    ] as const) {
      const route = [`192.168.${net}.0/24`, 'dev', device, 'mtu', 'lock', String(mtu)]
      lab.run('router', ['ip', 'route', 'replace', ...route])
    }
  }

  /** The path MTU that each end of the path uses. */
  async function pathMtus(): Promise<readonly number[]> {
    const ends = [
      [left, right],
      [right, left],
    ] as const
    return Promise.all(
      ends.map(async ([{ control }, { v4 }]) => {
        const { UDP } = await control.pingMachine({ machine: v4 })
        return UDP.State === 'direct' ? Math.max(...UDP.Candidates.map((candidate) => candidate.MTU ?? 0)) : 0
      }),
    )
  }

  async function untilPathMtu(mtu: number, withinMs: number): Promise<void> {
    await eventually(
      async () => {
        await ping(lab, 'left', right.v4, { count: 1 })
        expect(await pathMtus()).toEqual([mtu, mtu])
      },
      { withinMs, everyMs: 300 },
    )
  }

  test('the longest packets of the VPN pass all the time, and jumbo frames are used again', async () => {
    await untilPathMtu(MTU, 30_000)
    await ping(lab, 'left', right.v4, { size: LONG_PING })
    lab.run('router', [
      'nft',
      'table ip narrow { chain through { type filter hook forward priority 0; ip length > 1500 drop; }; }',
    ])
    // the stream takes them until the path is known to be narrow, and after that
    await eventually(() => ping(lab, 'left', right.v4, { count: 1, size: LONG_PING }), {
      withinMs: 15_000,
      everyMs: 200,
    })
    await untilPathMtu(1_440, 30_000)
    await ping(lab, 'left', right.v4, { count: 10, size: LONG_PING })
    await ping(lab, 'right', left.v6, { count: 10, size: MTU - 48 })
    const stop = await serveIperf(lab, 'right')
    try {
      expect((await iperf(lab, 'left', right.v4)).bytes).toBeGreaterThan(10_000_000)
      expect((await iperf(lab, 'left', right.v4, ['-R'])).bytes).toBeGreaterThan(10_000_000)
    } finally {
      await stop()
    }
    lab.run('router', ['nft', 'delete table ip narrow'])
    await untilPathMtu(MTU, WIDER_WITHIN_MS)
    await ping(lab, 'left', right.v4, { count: 3, size: LONG_PING })
  }, 180_000)

  test('no connection of the mesh has longer segments than every path takes', () => {
    for (const host of ['left', 'right']) {
      const segments = [...lab.run(host, ['ss', '-Htin', 'state', 'established']).matchAll(/ mss:(\d+)/g)]
      expect(segments.length).toBeGreaterThan(0)
      expect(Math.max(...segments.map(([, bytes]) => Number(bytes)))).toBeLessThanOrEqual(1_220)
    }
  })

  test('a path too narrow for those segments has its routers cut them, and packets pass by the stream', async () => {
    // routers that neither let long packets pass nor say so
    const silent = 'table ip silent { chain out { type filter hook output priority 0; icmp type 3 drop; }; }'
    lab.run('router', ['nft', silent])
    try {
      for (const mtu of [1_000, 576]) {
        narrowRoutes(mtu)
        await eventually(() => ping(lab, 'left', right.v4, { count: 1, size: 1_200 }), {
          withinMs: 30_000,
          everyMs: 200,
        })
        const stop = await serveIperf(lab, 'right')
        try {
          for (const way of [[], ['-R']])
            expect((await iperf(lab, 'left', right.v4, way)).bytes).toBeGreaterThan(1_000_000)
        } finally {
          await stop()
        }
      }
    } finally {
      lab.run('router', ['nft', 'delete table ip silent'])
      narrowRoutes(9_000)
    }
  }, 120_000)
})
