/** A NAT that restarts: all mappings are gone at once, those of the connections to relays too, and it may have another address. */
import { createNatsLab, eventually, type Lab } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createVpnLab, type Machine, pingSoon, runIn, type VpnLab, whyNoVpn } from './vpn-lab.ts'

const why = whyNoVpn(['ip', 'nft', 'ping', 'conntrack'])
const suite = why === undefined ? 'a NAT that restarts' : `a NAT that restarts (skipped: ${why})`

/**
 * How long it is pinged, in ms: for three quarters of it no packet may pass. That is about 2 s where nothing else runs. TCP and the
 * peers' pings would notice nothing for minutes.
 */
const PINGED_MS = 16_000
/** How long it may take until both ends have a path over UDP again, in ms. */
const DIRECT_WITHIN_MS = 40_000
/** How long the connections may stand that the NAT forgot, in ms: about 2 s. The peers' pings would notice within half a minute. */
const RECONNECTED_WITHIN_MS = 5_000
/** How often a machine pings the other, in s. */
const PING_EVERY_S = 0.2

/** Drops segments of connections that the NAT knows nothing of, as routers of providers do, in place of taking them up. */
const STRICT = `table inet strict {
  chain through { type filter hook forward priority -10; ct state invalid drop; }
}`

describe.skipIf(why !== undefined)(suite, () => {
  let lab: Lab
  let vpn: VpnLab
  let open: Machine
  let a: Machine
  let args: readonly string[]

  beforeAll(async () => {
    lab = createNatsLab({ a: 'port-preserving', b: 'port-preserving' })
    vpn = createVpnLab(lab)
    for (const nat of ['nata', 'natb']) {
      lab.run(nat, ['sysctl', '-qw', 'net.netfilter.nf_conntrack_tcp_loose=0'])
      lab.run(nat, ['nft', STRICT])
    }
    open = await vpn.start('open', ['--mdns=false', '--address=10.1.0.1/24'])
    const bootstrap = open.addresses.filter((address) => address.includes('/5.5.5.1/tcp/'))
    args = ['--mdns=false', `--discovery-bootstrap-peers=${bootstrap.join(',')}`]
    a = await vpn.start('a', [...args, '--address=10.1.0.2/24'])
    await pingSoon(lab, 'a', open.v4, 60_000)
  }, 120_000)
  afterAll(() => vpn.close())

  async function endpointOf(machine: Machine, other: Machine): Promise<string | undefined> {
    const { Peers } = await machine.control.getVpn()
    const udp = Peers.find(({ PeerID }) => PeerID === other.id)?.UDP
    return udp?.State === 'direct' ? (udp.Endpoint ?? undefined) : undefined
  }

  /** Until both ends have a path over UDP, and the other sends to this address of the NAT. */
  function untilDirect(other: Machine, address: string): Promise<void> {
    return eventually(
      async () => {
        expect(await endpointOf(other, a)).toContain(`${address}:`)
        expect(await endpointOf(a, other)).toMatch(/^5\.5\.5\.[13]:/)
      },
      { withinMs: DIRECT_WITHIN_MS, everyMs: 200 },
    )
  }

  function restart(nat: string, address: string): void {
    lab.run(nat, ['ip', 'addr', 'flush', 'dev', 'eth0'])
    lab.run(nat, ['ip', 'addr', 'add', `${address}/24`, 'dev', 'eth0'])
    lab.run(nat, ['conntrack', '-F'])
  }

  /** What `a` is told of its connection to the other, in turn, from now on; ended by the signal. */
  function eventsOf(other: Machine, signal: AbortSignal): readonly string[] {
    const told: string[] = []
    const follow = async () => {
      const types = ['peer.connected', 'peer.disconnected'] as const
      for await (const { type, data } of a.control.events({ types, signal }))
        if ('PeerID' in data && data.PeerID === other.id) told.push(type)
    }
    follow().catch((error: unknown) => signal.aborted || told.push(String(error)))
    return told
  }

  test('with another address: a connection to a peer in the open is made anew soon, though the path to it stays', async () => {
    const ending = new AbortController()
    const told = eventsOf(open, ending.signal)
    await untilDirect(open, '5.5.5.2')
    const pinging = runIn(lab, 'a', ['ping', '-n', '-i', String(PING_EVERY_S), '-w', '12', open.v4])
    const expected: string[] = []
    for (const address of ['5.5.5.38', '5.5.5.39']) {
      restart('nata', address)
      expected.push('peer.disconnected', 'peer.connected')
      await eventually(() => expect(told).toEqual(expected), { withinMs: RECONNECTED_WITHIN_MS })
      await untilDirect(open, address)
    }
    ending.abort()
    await pinging
  }, 60_000)

  test('with another address: packets pass within seconds, and directly soon', async () => {
    const b = await vpn.start('b', [...args, '--address=10.1.0.3/24'])
    await pingSoon(lab, 'a', b.v4, 60_000)
    await untilDirect(b, '5.5.5.39')
    // the second time the connection between the two goes over the hole that was found after the first
    for (const address of ['5.5.5.40', '5.5.5.41']) {
      const pings = ['-n', '-i', String(PING_EVERY_S), '-w', String(PINGED_MS / 1_000)]
      const pinging = runIn(lab, 'a', ['ping', ...pings, b.v4])
      restart('nata', address)
      await untilDirect(b, address)
      const received = Number(/ (\d+) received/.exec(await pinging)?.[1])
      expect(received).toBeGreaterThan(PINGED_MS / 1_000 / PING_EVERY_S / 4)
    }
  }, 120_000)
})
