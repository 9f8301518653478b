/**
 * A machine with an exit node to which others connect by its own address, as by SSH to a server: they are answered from
 * there, before and after the exit was switched on, and no packet of a connection that the machine began goes past the exit.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createLab, eventually, type Lab } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXIT, EXIT6, EXIT_HOSTS, FAR, FAR6, USER, USER6, wireExit } from './exit-lab.ts'
import { createVpnLab, type Machine, ping, pingSoon, runIn, type VpnLab, whyNoVpn } from './vpn-lab.ts'

const why = whyNoVpn(['ip', 'nft', 'ping', 'curl', 'conntrack', 'ss'])
const suite = why === undefined ? 'an exit and inbound' : `an exit and inbound (skipped: ${why})`

/** What listens on the user's machine, and what it connects to. */
const [HTTP, ECHO, DIALLER, TALKER] = [8_022, 8_023, 8_024, 9_000]

/** Counts what leaves the user's machine past the exit: answers, and what is none. */
const COUNTERS = `table inet count {
  counter answers { }
  counter past { }
  chain in {
    type filter hook prerouting priority -300; policy accept;
    icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert, mld2-listener-report } accept
    iifname user ip daddr ${EXIT} accept
    iifname user ip6 daddr ${EXIT6} accept
    iifname user tcp sport { ${HTTP}, ${ECHO} } counter name answers accept
    iifname user ip saddr ${USER} counter name past
    iifname user ip6 saddr ${USER6} counter name past
    iifname user ip saddr 10.1.0.0/24 counter name past
  }
}`

const USER_SERVERS = `
require('node:http').createServer((request, response) => response.end('here')).listen(${HTTP}, '::')
require('node:net').createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(${ECHO}, '::')`

/** Says something all the time to those who connect, so that its packets are the first that a firewall sees. */
const TALKING_SERVER = `
require('node:net').createServer((socket) => {
  const timer = setInterval(() => socket.write('word'), 20)
  socket.on('error', () => {}).on('close', () => clearInterval(timer))
}).listen(${TALKER}, '${FAR}')`

/** Prints each line that comes back. */
const ECHO_CLIENT = `
const socket = require('node:net').connect({ port: ${ECHO}, host: '${USER}', localAddress: '${FAR}' })
setInterval(() => socket.write('line\\n'), 50)
socket.on('error', () => process.exit(1)).pipe(process.stdout)`

/** Dials from its port, then listens there. */
const listener = (port: number) => `
const net = require('node:net')
const socket = net.connect({ port: ${TALKER}, host: '${FAR}', localPort: ${port} })
socket.on('error', () => process.exit(1)).on('data', () => process.stdout.write('.'))
socket.once('connect', () => net.createServer().listen(${port}, '0.0.0.0'))`

describe.skipIf(why !== undefined)(suite, () => {
  let lab: Lab
  let vpn: VpnLab
  let exit: Machine
  let user: Machine
  const children: ChildProcess[] = []

  beforeAll(async () => {
    lab = createLab([...EXIT_HOSTS])
    wireExit(lab, COUNTERS)
    runNode('user', USER_SERVERS)
    runNode('net', TALKING_SERVER)
    vpn = createVpnLab(lab)
    const args = ['--name=gate', '--address=10.1.0.1/24', '--advertise-exit', '--mdns=false']
    exit = await vpn.start('exit', [...args, '--listen-maddrs=/ip4/0.0.0.0/tcp/4001'])
  }, 60_000)
  afterAll(async () => {
    for (const child of children) child.kill()
    await vpn?.close()
  })

  /** What it printed so far, in bytes. */
  function runNode(host: string, program: string): () => number {
    const [file, ...words] = lab.inside(host, [process.execPath, '-e', program])
    const child = spawn(file, words, { stdio: ['ignore', 'pipe', 'ignore'] })
    let bytes = 0
    child.stdout.on('data', (part: Buffer) => (bytes += part.length))
    children.push(child)
    return () => bytes
  }

  function untilMore(printed: () => number, withinMs = 10_000): Promise<void> {
    const before = printed()
    return eventually(() => expect(printed()).toBeGreaterThan(before), { withinMs, everyMs: 50 })
  }

  function counted(name: 'answers' | 'past'): number {
    const text = lab.run('net', ['nft', 'list', 'counter', 'inet', 'count', name])
    return Number(/packets (\d+)/.exec(text)?.[1])
  }

  const fetched = (from: string, host: string) =>
    runIn(lab, 'net', ['curl', '-sS', '--max-time', '3', '--interface', from, `http://${host}:${HTTP}/`])

  test('connections from outside stay and new ones are answered, and nothing else goes past the exit', async () => {
    const echoed = runNode('net', ECHO_CLIENT)
    // one of them dials from the port at which it listens
    const heard = [0, DIALLER].map((port) => runNode('user', listener(port)))
    await Promise.all([echoed, ...heard].map((each) => untilMore(each)))
    await eventually(() => expect(lab.run('user', ['ss', '-Hltn'])).toContain(`:${DIALLER} `))
    const bootstrap = exit.addresses.filter((address) => address.includes(`/${EXIT}/tcp/`))
    const args = ['--address=10.1.0.2/24', '--mdns=false', '--exit-node=gate']
    const starting = vpn.start('user', [...args, `--discovery-bootstrap-peers=${bootstrap.join(',')}`])
    await eventually(() => expect(lab.run('user', ['ip', '-6', 'rule', 'show'])).toContain('5108:'), {
      withinMs: 20_000,
      everyMs: 20,
    })
    // from here on; the server goes on talking to the connections that the machine began before
    lab.run('net', ['nft', 'reset', 'counters'])
    user = await starting
    await pingSoon(lab, 'user', FAR, 60_000)
    await untilMore(echoed, 20_000)
    await eventually(async () => expect(await fetched(FAR, USER)).toBe('here'), {
      withinMs: 15_000,
      everyMs: 200,
    })
    expect(await fetched(FAR6, `[${USER6}]`)).toBe('here')
    await untilMore(echoed)
    expect(counted('answers')).toBeGreaterThan(10)
    expect(counted('past')).toBe(0)
    const { Problems } = await user.control.getHealth()
    expect(Problems.find(({ Code }) => Code === 'exit.inbound')?.Title).toContain('is answered past the exit')
    expect(Problems.map(({ Code }) => Code)).not.toContain('exit.foreign_marks')
  }, 120_000)

  test('nor does anything when a firewall forgets which connections there are', async () => {
    const echoed = runNode('net', ECHO_CLIENT)
    await untilMore(echoed)
    lab.run('user', ['conntrack', '-F'])
    // what talks to the machine now is the first that the firewall sees of a connection which the machine began
    await ping(lab, 'user', FAR, { count: 10 })
    expect(counted('past')).toBe(0)
    expect(await fetched(FAR, USER)).toBe('here')
  }, 60_000)
})
