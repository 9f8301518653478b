/**
 * Two members that do the same: both offer one service, route one office and are exits. A third one uses all of that while
 * the one in use is killed. Each is a network namespace with a real TUN device; so are the Internet and the office.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createLab, eventually, type Lab } from '@mesh/testkit'
import { createVpnLab, type Machine, type VpnLab, whyNoVpn } from './vpn-lab.ts'

/** What goes over to another provider. */
export const FLOWS = ['service', 'route', 'exit'] as const
type FlowName = (typeof FLOWS)[number]

/** The time from the kill to the next byte, in ms. */
export type Failover = Readonly<Record<FlowName, number>>

export interface FailoverLab {
  /**
   * Ends the member in use, and measures until all goes through the other one. `killed`: by SIGKILL, so that its connections
   * close. `silent`: it stands still, and nothing tells that it does; the office's own routers agree on the other one.
   */
  end(how: 'killed' | 'silent'): Promise<Failover>
  /** Starts the killed member again, and waits until it stands by. */
  restart(): Promise<void>
  /** The number of packets that left the user's machine for the Internet past the exit. */
  leaked(): number
  close(): Promise<void>
}

/** Says why it cannot be tried here; undefined where it can. */
export function whyNoFailover(): string | undefined {
  return whyNoVpn(['ip', 'nft'])
}

const FAR = '198.51.100.1'
const OFFICE = '192.168.77.9'
const ECHO_PORT = 7_007
const USER_PORT = 7_008
const PROVIDERS = {
  one: { own: '203.0.113.20', router: '203.0.113.17', office: '192.168.77.1', vpn: '10.1.0.2' },
  two: { own: '203.0.113.36', router: '203.0.113.33', office: '192.168.77.2', vpn: '10.1.0.3' },
} as const
type ProviderName = keyof typeof PROVIDERS
const NAMES = Object.keys(PROVIDERS) as readonly ProviderName[]

/** Counts at the Internet what the user's machine sends there by itself. */
const COUNTERS = `table inet count {
  counter past { }
  chain in {
    type filter hook prerouting priority -300; policy accept;
    iifname user ip daddr ${FAR} counter name past
  }
}`

const ECHO = `
require('node:net').createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(${ECHO_PORT})`

/** Sends a byte every 20 ms, and prints when one comes back; connects again when none does, unless it is told to keep on. */
const CLIENT = `
const { connect } = require('node:net')
const [host, port, how] = process.argv.slice(1)
let socket, heardAt = 0
const open = () => {
  socket?.destroy()
  heardAt = Date.now()
  const own = socket = connect({ host, port: Number(port), noDelay: true })
  own.on('data', () => console.log(heardAt = Date.now())).on('error', () => {})
  own.on('close', () => setTimeout(() => own === socket && open(), 20))
}
open()
setInterval(() => {
  socket.write('.')
  if (how !== 'keep' && Date.now() - heardAt > 500) open()
}, 20)`

/** @throws what an engine or a namespace that cannot be made says */
export async function openFailoverLab(): Promise<FailoverLab> {
  const lab = createLab(['net', 'user', 'one', 'two', 'office'])
  const made = new RunningLab(lab, createVpnLab(lab))
  try {
    await made.start()
    return made
  } catch (error) {
    await made.close()
    throw error
  }
}

class RunningLab implements FailoverLab {
  readonly #lab: Lab
  readonly #vpn: VpnLab
  readonly #children: ChildProcess[] = []
  readonly #providers = new Map<ProviderName, Machine>()
  readonly #folders = new Map<ProviderName, string>()
  readonly #heard: Record<FlowName, number[]> = { service: [], route: [], exit: [] }
  #user: Machine | undefined
  #killed: ProviderName | undefined

  constructor(lab: Lab, vpn: VpnLab) {
    this.#lab = lab
    this.#vpn = vpn
  }

  async start(): Promise<void> {
    wire(this.#lab)
    for (const host of ['net', 'office', ...NAMES]) this.#spawn(host, ['-e', ECHO])
    await this.#startProvider('one')
    this.#user = await this.#vpn.start('user', [
      '--address=10.1.0.1/24',
      '--mdns=false',
      '--accept-routes',
      '--exit-node=any',
      `--service-connect=echo=127.0.0.1:${USER_PORT}`,
      `--discovery-bootstrap-peers=${this.#addressOf('one')}`,
    ])
    const flows = {
      service: ['127.0.0.1', USER_PORT, 'again'],
      route: [OFFICE, ECHO_PORT, 'keep'],
      exit: [FAR, ECHO_PORT, 'again'],
    } as const
    for (const flow of FLOWS) {
      const client = this.#spawn('user', ['-e', CLIENT, ...flows[flow].map(String)])
      client.stdout?.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n')) if (line !== '') this.#heard[flow].push(Number(line))
      })
    }
    await this.#untilOneHasAll()
    this.#killed = 'two'
    await this.restart()
  }

  async end(how: 'killed' | 'silent'): Promise<Failover> {
    const killed = await this.#untilOneHasAll()
    const killedAt = Date.now()
    this.#killed = killed
    if (how === 'silent') {
      this.#providers.get(killed)?.suspend()
      this.#leadOffice(otherThan(killed))
    } else await this.#providers.get(killed)?.kill()
    const took = await eventually(async () => {
      const other = await this.#activeOf()
      if (other === killed) throw new Error(`${killed} is still in use`)
      return FLOWS.map((flow) => [flow, this.#nextByteMs(flow, killedAt)] as const)
    }, SOON)
    return Object.fromEntries(took) as unknown as Failover
  }

  async restart(): Promise<void> {
    const killed = this.#killed
    if (killed === undefined) return
    await this.#providers.get(killed)?.kill()
    this.#leadOffice(otherThan(killed))
    await this.#startProvider(killed)
    const { id = '' } = this.#providers.get(killed) ?? {}
    await eventually(async () => {
      const { Routes, ExitNode } = await this.#control().getVpn()
      const standby = [Routes.Accepted[0]?.Standby, ExitNode?.Standby]
      const connection = await this.#control().getNodeConnection({ name: 'echo' })
      if (standby.some((peers) => peers?.includes(id) !== true) || connection.Providers !== 2)
        throw new Error(`${killed} does not stand by yet`)
    }, SOON)
    this.#killed = undefined
  }

  leaked(): number {
    const out = this.#lab.run('net', ['nft', 'list', 'counter', 'inet', 'count', 'past'])
    return Number(/packets (\d+)/.exec(out)?.[1] ?? Number.NaN)
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL')
    await this.#vpn.close()
  }

  /** The office sends what is for the VPN to this router, as its own routers agree by VRRP. */
  #leadOffice(name: ProviderName): void {
    this.#lab.run('office', ['ip', 'route', 'replace', '10.1.0.0/24', 'via', PROVIDERS[name].office])
  }

  #control() {
    if (this.#user === undefined) throw new Error('the user does not run')
    return this.#user.control
  }

  async #startProvider(name: ProviderName): Promise<void> {
    const { vpn } = PROVIDERS[name]
    const stateDir = this.#folders.get(name) ?? this.#vpn.mesh.makeFolder()
    this.#folders.set(name, stateDir)
    const others = NAMES.filter((other) => other !== name && this.#providers.has(other))
    const machine = await this.#vpn.start(
      name,
      [
        `--name=${name}`,
        `--address=${vpn}/24`,
        '--mdns=false',
        '--listen-maddrs=/ip4/0.0.0.0/tcp/4001',
        '--advertise-exit',
        '--advertise-route=192.168.77.0/24',
        `--service-add=echo=127.0.0.1:${ECHO_PORT}`,
        ...others.map((other) => `--discovery-bootstrap-peers=${this.#addressOf(other)}`),
      ],
      { stateDir },
    )
    this.#providers.set(name, machine)
  }

  #addressOf(name: ProviderName): string {
    const addresses = this.#providers.get(name)?.addresses ?? []
    return addresses.find((address) => address.includes(`/${PROVIDERS[name].own}/tcp/`)) ?? ''
  }

  /** The time from the kill to the first byte after the longest silence since, in ms; the flow must go on. */
  #nextByteMs(flow: FlowName, killedAt: number): number {
    const since = [killedAt, ...this.#heard[flow].filter((at) => at > killedAt)]
    if (Date.now() - (since.at(-1) ?? 0) > FLOWING_MS || since.length < LEAST_BYTES)
      throw new Error(`nothing goes on: ${flow}`)
    let [longestMs, nextAt] = [0, killedAt]
    for (const [at, heardAt] of since.entries()) {
      const silentMs = heardAt - (since[at - 1] ?? heardAt)
      if (silentMs > longestMs) [longestMs, nextAt] = [silentMs, heardAt]
    }
    return nextAt - killedAt
  }

  /** The provider that is in use for all; the bytes flow. */
  #untilOneHasAll(): Promise<ProviderName> {
    return eventually(async () => {
      for (const flow of FLOWS)
        if (Date.now() - (this.#heard[flow].at(-1) ?? 0) > FLOWING_MS)
          throw new Error(`nothing comes: ${flow}`)
      return await this.#activeOf()
    }, SOON)
  }

  async #activeOf(): Promise<ProviderName> {
    const control = this.#control()
    const { Routes, ExitNode } = await control.getVpn()
    const { Provider } = await control.getNodeConnection({ name: 'echo' })
    const ids = [Routes.Accepted[0]?.PeerID, ExitNode?.State === 'up' ? ExitNode.PeerID : undefined, Provider]
    const name = NAMES.find((each) => this.#providers.get(each)?.id === ids[0])
    if (name === undefined || ids.some((id) => id !== ids[0]))
      throw new Error(`several are in use: ${ids.join(', ')}`)
    return name
  }

  #spawn(host: string, args: readonly string[]): ChildProcess {
    const [file, ...words] = this.#lab.inside(host, [process.execPath, ...args])
    const child = spawn(file, words, { stdio: ['ignore', 'pipe', 'ignore'] })
    this.#children.push(child)
    return child
  }
}

/** Redirects would have the office remember a router that is gone. */
const SENDS_NO_REDIRECTS = ['all', 'default', 'eth1'].map(
  (device) => `net.ipv4.conf.${device}.send_redirects=0`,
)

const otherThan = (name: ProviderName): ProviderName => (name === 'one' ? 'two' : 'one')

const SOON = { withinMs: 40_000, everyMs: 100 }
/** Bytes that come so often, in ms, flow. */
const FLOWING_MS = 300
/** So many bytes after a kill show that the flow goes on. */
const LEAST_BYTES = 50

/** The Internet between all, and the office behind both providers, whose routers know each other. */
function wire(lab: Lab): void {
  const links = [
    { host: 'user', own: '203.0.113.10', router: '203.0.113.1' },
    ...NAMES.map((host) => ({ host, ...PROVIDERS[host] })),
  ]
  for (const { host, own, router } of links) {
    lab.wire(
      { host, device: 'eth0', addresses: [`${own}/28`] },
      { host: 'net', device: host, addresses: [`${router}/28`] },
    )
    lab.run(host, ['ip', 'route', 'add', 'default', 'via', router])
  }
  lab.run('net', ['ip', 'addr', 'add', `${FAR}/32`, 'dev', 'lo'])
  lab.run('net', ['nft', COUNTERS])
  lab.run('office', ['ip', 'link', 'add', 'br0', 'type', 'bridge'])
  lab.run('office', ['ip', 'addr', 'add', `${OFFICE}/24`, 'dev', 'br0'])
  lab.run('office', ['ip', 'link', 'set', 'br0', 'up'])
  for (const name of NAMES) {
    const { office } = PROVIDERS[name]
    lab.wire(
      { host: name, device: 'eth1', addresses: [`${office}/24`] },
      { host: 'office', device: name, addresses: [] },
    )
    lab.run('office', ['ip', 'link', 'set', name, 'master', 'br0'])
    const { office: other } = PROVIDERS[otherThan(name)]
    // where this one has no VPN any more, what comes back goes to the other
    lab.run(name, ['ip', 'route', 'add', '10.1.0.0/24', 'via', other, 'metric', '1000'])
    lab.run(name, ['sysctl', '-qw', ...SENDS_NO_REDIRECTS])
  }
  for (const host of ['net', ...NAMES]) lab.run(host, ['sysctl', '-qw', 'net.ipv4.ip_forward=1'])
  lab.run('office', ['ip', 'route', 'add', '10.1.0.0/24', 'via', PROVIDERS.one.office])
}
