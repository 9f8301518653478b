/** A machine that goes from one network to another, from Wi-Fi to a mobile one, each with a NAT of its own. */
import { bridge, createLab, eventually, type Lab } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createVpnLab,
  iperf,
  type Machine,
  pingSoon,
  runIn,
  serveIperf,
  type VpnLab,
  whyNoVpn,
} from './vpn-lab.ts'

const why = whyNoVpn(['ip', 'nft', 'ping', 'iperf3'])
const suite = why === undefined ? 'roaming' : `roaming (skipped: ${why})`

const NAT_RULES = `table ip nat {
  chain out { type nat hook postrouting priority 100; oifname "eth0" masquerade; }
  chain through {
    type filter hook forward priority 0;
    iifname "eth0" ct state established,related accept
    iifname "eth0" drop
  }
  chain to { type filter hook input priority 0; iifname "eth0" ct state new drop; }
}`

/** How long it may take until both ends have a path over UDP again, in ms: TCP itself would notice nothing for minutes. */
const DIRECT_WITHIN_MS = 25_000

describe.skipIf(why !== undefined)(suite, () => {
  let lab: Lab
  let vpn: VpnLab
  let phone: Machine
  let home: Machine

  beforeAll(async () => {
    lab = createLab(['wan', 'open', 'wifi', 'mobile', 'phone', 'router', 'home'])
    vpn = createVpnLab(lab)
    bridge(lab, 'wan', {
      open: ['5.5.5.1/24'],
      wifi: ['5.5.5.2/24'],
      mobile: ['5.5.5.3/24'],
      router: ['5.5.5.4/24'],
    })
    behind('wifi', 'phone', 'wlan0', 2)
    behind('mobile', 'phone', 'lte0', 3)
    behind('router', 'home', 'eth0', 4)
    lab.run('phone', ['ip', 'route', 'add', 'default', 'via', '192.168.2.1'])
    lab.run('home', ['ip', 'route', 'add', 'default', 'via', '192.168.4.1'])
    const open = await vpn.start('open', ['--mdns=false', '--address=10.1.0.1/24'])
    const bootstrap = open.addresses.filter((address) => address.includes('/5.5.5.1/tcp/'))
    const args = ['--mdns=false', `--discovery-bootstrap-peers=${bootstrap.join(',')}`]
    ;[phone, home] = await Promise.all([
      vpn.start('phone', [...args, '--address=10.1.0.2/24']),
      vpn.start('home', [...args, '--address=10.1.0.3/24']),
    ])
    await pingSoon(lab, 'phone', home.v4, 60_000)
  }, 120_000)
  afterAll(() => vpn.close())

  function behind(nat: string, host: string, device: string, net: number): void {
    lab.wire(
      { host, device, addresses: [`192.168.${net}.2/24`] },
      { host: nat, device: 'lan', addresses: [`192.168.${net}.1/24`] },
    )
    lab.run(nat, ['sysctl', '-qw', 'net.ipv4.ip_forward=1'])
    lab.run(nat, ['nft', NAT_RULES])
  }

  /** Where home sends what is for the phone; undefined while it is not sure. */
  async function phoneSeenAt(): Promise<string | undefined> {
    const { Peers } = await home.control.getVpn()
    const udp = Peers.find(({ PeerID }) => PeerID === phone.id)?.UDP
    return udp?.State === 'direct' ? (udp.Endpoint ?? undefined) : undefined
  }

  function untilSeenAt(address: string, withinMs: number): Promise<void> {
    return eventually(
      async () => {
        // a path is looked for while packets pass
        void runIn(lab, 'phone', ['ping', '-c', '1', '-W', '1', home.v4]).catch(() => undefined)
        expect(await phoneSeenAt()).toContain(address)
        const { Peers } = await phone.control.getVpn()
        expect(Peers.find(({ PeerID }) => PeerID === home.id)?.UDP.State).toBe('direct')
      },
      { withinMs, everyMs: 200 },
    )
  }

  test('a machine that goes from Wi-Fi to a mobile network loses no connection', async () => {
    await untilSeenAt('5.5.5.2:', 40_000)
    const stop = await serveIperf(lab, 'home')
    try {
      const load = iperf(lab, 'phone', home.v4, ['-t', '25', '-b', '5M'])
      await eventually(async () => {
        const { Peers } = await phone.control.getVpn()
        expect(Peers.find(({ PeerID }) => PeerID === home.id)?.BytesOut).toBeGreaterThan(1_000_000)
      })
      lab.run('phone', ['ip', 'route', 'replace', 'default', 'via', '192.168.3.1'])
      lab.run('phone', ['ip', 'addr', 'flush', 'dev', 'wlan0'])
      await untilSeenAt('5.5.5.3:', DIRECT_WITHIN_MS)
      expect((await load).bytes).toBeGreaterThan(3_000_000)
    } finally {
      await stop()
    }
  }, 120_000)
})
