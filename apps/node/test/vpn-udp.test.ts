/**
 * Packets over UDP between machines (network namespaces) behind NATs of every kind, as people use it: who goes direct and
 * who stays on the relay and why, a path that is cut and given back under iperf3, a machine that moves.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { createLab, createNatsLab, eventually, forgetMappings, type Lab, NAT_UDP_PORT } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createVpnLab,
  iperf,
  type Machine,
  ping,
  pingSoon,
  runIn,
  serveIperf,
  type VpnLab,
  whyNoVpn,
} from './vpn-lab.ts'

const why = whyNoVpn(['ip', 'nft', 'ping', 'iperf3', 'ss'])
const suite = why === undefined ? 'packets over UDP' : `packets over UDP (skipped: ${why})`

const NATS = {
  cone: 'full-cone',
  address: 'address-restricted',
  port1: 'port-preserving',
  port2: 'port-preserving',
  varies1: 'fully-random',
  varies2: 'fully-random',
  forgets: 'port-preserving',
} as const
type Host = keyof typeof NATS

/** Who reaches whom directly; the order of the two does not matter. */
const DIRECT: readonly (readonly [Host, Host])[] = [
  ['port1', 'cone'],
  ['port1', 'address'],
  ['port1', 'port2'],
  ['varies1', 'cone'],
  ['varies1', 'address'],
  ['cone', 'address'],
]

/** How long the NAT of `forgets` keeps each mapping, in ms, in turn: short, so that a node knows soon. */
const LIVES_MS = [24_000, 29_000, 26_000]
/** How long it may take a node to know: it takes two mappings that ended. */
const LEARNT_WITHIN_MS = 120_000
/** How long the address outside may take to change twice after that: two mappings, and a little. */
const CHANGED_WITHIN_MS = 90_000

const UDP_ARGS = ['--mdns=false', `--udp-port=${NAT_UDP_PORT}`]

const MARK = 77

let lab: Lab
let vpn: VpnLab
/** Pings from `cone` to `forgets` from the beginning on, beside all other tests. */
let forgetful: Pinging
let firstPorts: ReadonlySet<string>
let stopForgetting = () => {}
const machines = new Map<string, Machine>()

function machine(host: string): Machine {
  const found = machines.get(host)
  if (found === undefined) throw new Error(`no machine ${host}`)
  return found
}

interface Pinging {
  readonly since: number
  /** When each answer came, in ms since. */
  readonly answeredAt: readonly number[]
  stop(): void
}

function startPinging(host: string, to: string, everyS: number): Pinging {
  const [file, ...words] = lab.inside(host, ['ping', '-n', '-i', String(everyS), to])
  const child = spawn(file, words, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [since, answeredAt] = [performance.now(), [] as number[]]
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.includes('icmp_seq=')) answeredAt.push(performance.now() - since)
  })
  return { since, answeredAt, stop: () => void child.kill() }
}

/** The UDP ports on which a host listens. */
function udpPorts(host: string): string[] {
  return [...lab.run(host, ['ss', '-Hunl']).matchAll(/:(\d+) +\S+:\*/g)].flatMap(([, port]) => port ?? [])
}

/** What `of` says of the way over UDP to `peer`. */
async function udpOf(of: string, peer: string) {
  const { Peers } = await machine(of).control.getVpn()
  const found = Peers.find(({ PeerID }) => PeerID === machine(peer).id)
  return { ...found?.UDP, Path: found?.Path }
}

async function untilDirect(one: string, other: string, withinMs = 40_000): Promise<void> {
  await eventually(
    async () => {
      // a path that broke is looked for again only for packets
      await ping(lab, one, machine(other).v4, { count: 1 })
      expect(await udpOf(one, other)).toMatchObject({ State: 'direct', Path: 'direct' })
      expect(await udpOf(other, one)).toMatchObject({ State: 'direct', Path: 'direct' })
    },
    { withinMs, everyMs: 200 },
  )
}

/** Drops what comes through the host's NAT to its engine's socket. */
function cut(host: string): void {
  lab.run(`nat${host}`, [
    'nft',
    `table ip cut { chain in { type filter hook forward priority -10; iifname "eth0" udp dport ${NAT_UDP_PORT} drop; }; }`,
  ])
}

function giveBack(host: string): void {
  lab.run(`nat${host}`, ['nft', 'delete table ip cut'])
}

describe.skipIf(why !== undefined)(suite, () => {
  beforeAll(async () => {
    lab = createNatsLab(NATS)
    vpn = createVpnLab(lab)
    machines.set('open', await vpn.start('open', [...UDP_ARGS, '--address=10.1.0.1/24']))
    const bootstrap = machine('open').addresses.filter((address) => address.includes('/5.5.5.1/tcp/'))
    await Promise.all(
      Object.keys(NATS).map(async (host, at) => {
        const args = [`--discovery-bootstrap-peers=${bootstrap.join(',')}`, `--address=10.1.0.${at + 2}/24`]
        const marked = host === 'cone' ? [`--fwmark=${MARK}`] : []
        machines.set(host, await vpn.start(host, [...UDP_ARGS, ...args, ...marked]))
      }),
    )
    const address = `5.5.5.${Object.keys(NATS).indexOf('forgets') + 2}`
    let count = 0
    const lifeMs = () => LIVES_MS[count++ % LIVES_MS.length] ?? 0
    stopForgetting = forgetMappings({ lab, host: 'forgets', address, lifeMs })
    firstPorts = new Set(udpPorts('forgets'))
    forgetful = startPinging('cone', machine('forgets').v4, 0.1)
  }, 120_000)
  afterAll(async () => {
    stopForgetting()
    forgetful.stop()
    await vpn.close()
  })

  test('NATs that can be passed are passed', async () => {
    await Promise.all(
      DIRECT.map(async ([one, other]) => {
        await pingSoon(lab, one, machine(other).v4, 60_000)
        await untilDirect(one, other)
      }),
    )
    expect(await udpOf('port1', 'port2')).toMatchObject({ Reason: null, Path: 'direct' })
  }, 120_000)

  test('all that a node sends to peers has the mark that it was given', () => {
    const sockets = lab.run('cone', ['ss', '-Htune', 'state', 'all']).split('\n')
    const ours = sockets.filter((line) => /^tcp\s/.test(line) || line.includes(`:${NAT_UDP_PORT} `))
    expect(ours.length).toBeGreaterThanOrEqual(3)
    const mark = `fwmark:0x${MARK.toString(16)}`
    // those that closed have no owner any more
    expect(ours.filter((line) => !line.includes(mark) && line.includes('ino:'))).toEqual([])
  })

  test('where both NATs choose a port for each peer the relay carries on, and the node says why', async () => {
    await pingSoon(lab, 'varies1', machine('varies2').v4, 60_000)
    await eventually(
      async () => {
        expect(await udpOf('varies1', 'varies2')).toMatchObject({ State: 'none', Path: 'relayed' })
        expect((await udpOf('varies1', 'varies2')).Reason).toBe('both-vary')
      },
      { withinMs: 40_000, everyMs: 300 },
    )
    const { UDP } = await machine('varies1').control.pingMachine({ machine: machine('varies2').v4 })
    expect(UDP.Candidates.length).toBeGreaterThan(0)
    expect(UDP.Candidates.every(({ Answered }) => !Answered)).toBe(true)
  }, 120_000)

  test('a path that is cut in one direction and given back loses no connection', async () => {
    await untilDirect('port1', 'port2')
    const stop = await serveIperf(lab, 'port2')
    try {
      const load = iperf(lab, 'port1', machine('port2').v4, ['-t', '16', '-b', '20M'])
      cut('port2')
      await eventually(
        async () => {
          expect((await udpOf('port1', 'port2')).State).toBe('none')
          expect((await udpOf('port2', 'port1')).State).toBe('none')
        },
        { withinMs: 15_000, everyMs: 100 },
      )
      // what arrives says which direction is cut
      await eventually(
        async () => {
          expect((await udpOf('port1', 'port2')).Reason).toBe('one-way')
          expect((await udpOf('port2', 'port1')).Reason).toBe('blocked')
        },
        { withinMs: 20_000, everyMs: 200 },
      )
      await pingSoon(lab, 'port1', machine('port2').v4)
      giveBack('port2')
      await untilDirect('port1', 'port2')
      expect((await load).bytes).toBeGreaterThan(1_000_000)
    } finally {
      await stop()
    }
  }, 120_000)

  test('a machine whose NAT gets another address is followed', async () => {
    await untilDirect('port2', 'cone')
    const pinging = startPinging('cone', machine('port2').v4, 0.2)
    try {
      // the first goes before: with it all others of its network would
      lab.run('natport2', ['ip', 'addr', 'del', '5.5.5.5/24', 'dev', 'eth0'])
      lab.run('natport2', ['ip', 'addr', 'add', '5.5.5.77/24', 'dev', 'eth0'])
      await eventually(
        async () =>
          expect(await udpOf('cone', 'port2')).toMatchObject({
            State: 'direct',
            Endpoint: expect.stringMatching(/^5\.5\.5\.77:/),
          }),
        { withinMs: 60_000, everyMs: 300 },
      )
    } finally {
      pinging.stop()
    }
    await pingSoon(lab, 'port2', machine('cone').v4)
  }, 120_000)

  test('a NAT that forgets each mapping after a time, traffic or not, is met by the next one before', async () => {
    const furtherPorts = () => udpPorts('forgets').filter((port) => !firstPorts.has(port))
    await eventually(() => expect(furtherPorts()).not.toEqual([]), {
      withinMs: LEARNT_WITHIN_MS,
      everyMs: 300,
    })
    const from = performance.now() - forgetful.since
    const seen: string[] = []
    const addresses = () => new Set(seen.filter((each) => each !== 'helped'))
    await eventually(
      async () => {
        const { State, Endpoint } = await udpOf('cone', 'forgets')
        seen.push(State === 'direct' ? String(Endpoint) : 'helped')
        expect(addresses().size).toBeGreaterThan(2)
      },
      { withinMs: CHANGED_WITHIN_MS, everyMs: 300 },
    )
    const watchedMs = performance.now() - forgetful.since - from
    // the addresses outside change, and hardly ever does the stream have to help
    expect(seen.filter((each) => each === 'helped').length).toBeLessThan(seen.length / 5)
    const times = forgetful.answeredAt.filter((at) => at >= from)
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at))
    expect(Math.max(...gaps)).toBeLessThan(2_000)
    expect(times.length).toBeGreaterThan(((watchedMs / 100) * 3) / 4)
  }, 240_000)
})

/** Drops UDP between two hosts' engines by nftables: of one family, or of both. */
function block(on: Lab, host: string, families: readonly ('ip' | 'ip6')[]): void {
  const drops = families.map((family) => `meta protocol ${family} udp dport ${NAT_UDP_PORT} drop;`).join(' ')
  const chain = (hook: string) => `chain ${hook} { type filter hook ${hook} priority 0; ${drops} };`
  on.run(host, ['nft', `table inet block; flush table inet block; delete table inet block`])
  on.run(host, ['nft', `table inet block { ${chain('input')} ${chain('output')} }`])
}

describe.skipIf(why !== undefined)(suite.replace('over UDP', 'over UDP of one wire'), () => {
  let wire: Lab
  let ends: VpnLab
  let left: Machine
  let right: Machine

  beforeAll(async () => {
    wire = createLab(['left', 'right'])
    ends = createVpnLab(wire)
    wire.wire(
      { host: 'left', device: 'eth0', addresses: ['192.168.95.1/24', '2001:db8::1/64'] },
      { host: 'right', device: 'eth0', addresses: ['192.168.95.2/24', '2001:db8::2/64'] },
    )
    ;[left, right] = await Promise.all([
      ends.start('left', [`--udp-port=${NAT_UDP_PORT}`, '--address=10.1.0.1/24']),
      ends.start('right', [`--udp-port=${NAT_UDP_PORT}`, '--address=10.1.0.2/24']),
    ])
    await pingSoon(wire, 'left', right.v4, 60_000)
  }, 120_000)
  afterAll(() => ends.close())

  /** What both say of the way to each other. */
  async function both() {
    const views = await Promise.all([left, right].map(({ control }) => control.getVpn()))
    return views.map(({ Peers }) => Peers[0]?.UDP)
  }

  test('IPv6 is a way where IPv4 is blocked', async () => {
    block(wire, 'left', ['ip'])
    await eventually(
      async () => {
        for (const udp of await both()) {
          expect(udp).toMatchObject({
            State: 'direct',
            Endpoint: expect.stringMatching(/^\[2001:db8::[12]\]:/),
          })
        }
      },
      { withinMs: 40_000, everyMs: 200 },
    )
    await ping(wire, 'left', right.v4)
    await ping(wire, 'right', left.v4, { size: 1252 })
  }, 60_000)

  test('on one link the connection has segments as long as the link takes', () => {
    const figures = wire.run('left', ['ss', '-Htin', 'state', 'established'])
    const segments = [...figures.matchAll(/ mss:(\d+)/g)].map(([, bytes]) => Number(bytes))
    expect(Math.max(...segments)).toBeGreaterThan(1_400)
  })

  test('where UDP is blocked the stream carries, both ends say why, and come back', async () => {
    block(wire, 'left', ['ip', 'ip6'])
    await eventually(
      async () => {
        for (const udp of await both()) expect(udp).toMatchObject({ State: 'none', Reason: 'blocked' })
      },
      { withinMs: 30_000, everyMs: 200 },
    )
    await ping(wire, 'left', right.v4)
    const [peer] = await left.control.listPeers({})
    expect(peer).toMatchObject({ Path: 'direct', UDP: { State: 'none', Reason: 'blocked' } })
    const { stdout } = await ends.mesh.run(['status', `--state-dir=${left.stateDir}`])
    expect(stdout).toContain('UDP is blocked')
    wire.run('left', ['nft', 'delete table inet block'])
    await eventually(
      async () => {
        await ping(wire, 'left', right.v4, { count: 1 })
        for (const udp of await both()) expect(udp).toMatchObject({ State: 'direct' })
      },
      { withinMs: 45_000, everyMs: 500 },
    )
  }, 120_000)

  test('a peer that lost its power is told gone within half a minute though UDP never reached it', async () => {
    block(wire, 'left', ['ip', 'ip6'])
    await eventually(
      async () => {
        await ping(wire, 'left', right.v4, { count: 1 })
        for (const udp of await both()) expect(udp).toMatchObject({ State: 'none', Reason: 'blocked' })
      },
      { withinMs: 30_000, everyMs: 200 },
    )
    const path = async () => (await left.control.getVpn()).Peers[0]?.Path
    expect(await path()).toBe('direct')
    wire.run('left', [
      'nft',
      'table inet dark { chain in { type filter hook input priority 0; iifname eth0 drop; }; }',
    ])
    const began = performance.now()
    await eventually(
      async () => {
        await runIn(wire, 'left', ['ping', '-c', '1', '-W', '1', right.v4]).catch(() => undefined)
        expect(await path()).toBeNull()
      },
      { withinMs: 60_000, everyMs: 200 },
    )
    expect(performance.now() - began).toBeLessThan(35_000)
    wire.run('left', ['nft', 'delete table inet dark'])
    await pingSoon(wire, 'left', right.v4, 60_000)
  }, 150_000)
})
