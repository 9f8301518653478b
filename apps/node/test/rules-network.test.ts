/**
 * Access rules on real TUN devices: a table of pairs (member, guest, route, exit, service, file, egress; TCP, UDP, ICMP; IPv4 and
 * IPv6) behaves as the policy says, before and after a change of policy, and a change cuts nothing else.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bridge, createLab, eventually, findWireguardGo, type Lab } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Prober, startProber } from './probe-lab.ts'
import { startStockWireguard, type StockWireguard, valueOf } from './stock-wireguard.ts'
import { createVpnLab, type Machine, pingSoon, type VpnLab, whyNoVpn } from './vpn-lab.ts'

const wireguardGo = findWireguardGo(['wg'])
const why = whyNoVpn(['ip', 'nft', 'ping']) ?? ('skipped' in wireguardGo ? wireguardGo.skipped : undefined)
const suite = why === undefined ? 'access rules' : `access rules (skipped: ${why})`

/** Somebody in the Internet, and a printer behind the router `db`. */
const [FAR, PRINTER] = ['198.51.100.1', '192.168.77.9']
const PORTS = ['tcp:22', 'tcp:443', 'tcp:5432', 'udp:3478', 'icmp'] as const
/** More at a time would make a busy machine look like a firewall. */
const TRIED_AT_ONCE = 24
const SOON = { withinMs: 20_000, everyMs: 100 }

const POLICY = `
groups: { ops: [admin] }
tags: { db: [db], web: [web] }
allow:
  - { from: [group:ops], to: [tag:db], on: [tcp:22, tcp:5432, icmp, files] }
  - { from: ['*'], to: [tag:web], on: [tcp:443, service:shop] }
  - { from: [group:ops], to: [route:192.168.77.0/24, exit], on: ['*'] }
  - { from: [guest:phone@admin], to: [tag:web], on: [icmp] }
  - { from: [tag:web], to: [tag:db], on: [udp:3478] }
  - { from: [tag:db], to: [tag:web], on: [egress] }
`
const CHANGED = `
groups: { ops: [admin] }
tags: { db: [db], web: [web] }
allow:
  - { from: [group:ops], to: [tag:db], on: [tcp:22, icmp] }
  - { from: [group:ops], to: [tag:web], on: [tcp:443, service:shop, egress] }
  - { from: [tag:web], to: [tag:db], on: [udp:3478, tcp:5432, files] }
  - { from: [tag:web], to: [route:192.168.77.0/24], on: [tcp:22] }
  - { from: [guest:phone@admin], to: [tag:db], on: [tcp:443] }
`

/** What may pass, as `FROM>TO WHAT`; all else in the table may not. */
const ALLOWED = new Set([
  ...['tcp:22', 'tcp:5432', 'icmp', 'files'].map((what) => `admin>db ${what}`),
  ...['admin', 'db', 'phone'].map((from) => `${from}>web tcp:443`),
  ...['admin', 'db'].map((from) => `${from}>web service`),
  ...['tcp:22', 'icmp'].map((what) => `admin>printer ${what}`),
  ...['tcp:22', 'icmp'].map((what) => `admin>far ${what}`),
  'phone>web icmp',
  'web>db udp:3478',
  // an exit on everything is also one for requests of programs
  'admin>web egress',
  'db>web egress',
])
const ALLOWED_LATER = new Set([
  ...['tcp:22', 'icmp'].map((what) => `admin>db ${what}`),
  ...['tcp:443', 'service', 'egress'].map((what) => `admin>web ${what}`),
  ...['udp:3478', 'tcp:5432', 'files'].map((what) => `web>db ${what}`),
  'web>printer tcp:22',
  'phone>db tcp:443',
])

describe.skipIf(why !== undefined)(suite, () => {
  let lab: Lab
  let vpn: VpnLab
  let folder: string
  const machines = new Map<string, Machine>()
  const probers = new Map<string, Prober>()
  const addresses = new Map<string, readonly string[]>()
  const proxied = new Map<string, number>()
  let app: StockWireguard | undefined

  const at = <T>(map: ReadonlyMap<string, T>, name: string): T => {
    const value = map.get(name)
    if (value === undefined) throw new Error(`no ${name}`)
    return value
  }
  const run = async (args: readonly string[], input?: string) => {
    const environment = { MESHSTATEDIR: at(machines, 'admin').stateDir, MESHTOKEN: token }
    const { code, stdout, stderr } = await vpn.mesh.run(args, {
      environment,
      ...(input !== undefined && { input }),
    })
    expect({ code, stderr: code === 0 ? '' : stderr + stdout }).toEqual({ code: 0, stderr: '' })
    return stdout
  }
  let token = ''

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mesh-rules-'))
    lab = createLab(['switch', 'admin', 'web', 'db', 'phone', 'printer', 'net'])
    vpn = createVpnLab(lab)
    bridge(lab, 'switch', {
      admin: ['192.168.90.1/24'],
      web: ['192.168.90.2/24'],
      db: ['192.168.90.3/24', '192.168.77.1/24'],
      phone: ['192.168.90.4/24'],
      printer: [`${PRINTER}/24`],
    })
    lab.run('printer', ['ip', 'route', 'add', '10.1.0.0/24', 'via', '192.168.77.1'])
    lab.wire(
      { host: 'web', device: 'eth1', addresses: ['203.0.113.2/28'] },
      { host: 'net', device: 'web', addresses: ['203.0.113.1/28'] },
    )
    lab.run('net', ['ip', 'addr', 'add', `${FAR}/32`, 'dev', 'lo'])
    lab.run('web', ['ip', 'route', 'add', 'default', 'via', '203.0.113.1'])
    for (const host of ['db', 'web']) lab.run(host, ['sysctl', '-qw', 'net.ipv4.ip_forward=1'])
    await startNodes()
    for (const host of ['admin', 'web', 'db', 'phone', 'printer', 'net']) {
      const serves = PORTS.filter((port) => port !== 'icmp')
      probers.set(host, await startProber(lab, host, serves))
    }
  }, 120_000)
  afterAll(async () => {
    for (const prober of probers.values()) await prober.stop()
    await app?.stop()
    await vpn.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function startNodes(): Promise<void> {
    const tokenFile = join(folder, 'token')
    const stateDir = vpn.mesh.makeFolder()
    writeFileSync(tokenFile, vpn.token, { mode: 0o600 })
    const made = await vpn.mesh.run(['admin', 'init', `--token-file=${tokenFile}`, `--state-dir=${stateDir}`])
    token = made.stdout.trim()
    const common = ['--mdns=false', '--accept-routes']
    const admin = await vpn.start(
      'admin',
      [
        ...common,
        '--name=admin',
        '--address=10.1.0.1/24',
        '--address=fd00:1::1/64',
        '--fwmark=109',
        '--proxy=127.0.0.1:1080',
      ],
      { token, stateDir },
    )
    machines.set('admin', admin)
    const bootstrap = admin.addresses.filter((each) => each.includes('/192.168.90.1/tcp/'))
    writeFileSync(join(folder, 'file'), 'all of it')
    const join_ = async (name: string, at_: number, args: readonly string[]) => {
      const { Code } = await admin.control.createInvite({ body: { Label: name } })
      const machine = await vpn.start(
        name,
        [
          ...common,
          `--name=${name}`,
          `--address=10.1.0.${at_}/24`,
          `--address=fd00:1::${at_}/64`,
          `--discovery-bootstrap-peers=${bootstrap.join(',')}`,
          `--invite=${Code}`,
          '--proxy=127.0.0.1:1080',
          ...args,
        ],
        { token },
      )
      machines.set(name, machine)
    }
    await Promise.all([
      join_('web', 20, [
        '--service-add=shop=127.0.0.1:443',
        '--egress',
        '--egress-allow=198.51.100.0/24',
        '--advertise-exit',
      ]),
      join_('db', 30, ['--advertise-route=192.168.77.0/24', `--file-send=share=${join(folder, 'file')}`]),
    ])
    await joinPhone(admin)
    for (const [name, { v4, v6 }] of machines) addresses.set(name, [v4, v6])
    addresses.set('printer', [PRINTER])
    addresses.set('far', [FAR])
  }

  async function joinPhone(admin: Machine): Promise<void> {
    const { Configuration } = await admin.control.createGuest({ body: { Name: 'phone' } })
    app = await startStockWireguard({
      lab,
      host: 'phone',
      file: 'file' in wireguardGo ? wireguardGo.file : '',
      device: `wg${process.pid}`,
      configuration: Configuration,
    })
    expect(valueOf(Configuration, 'Address')).toContain('10.1.0.')
  }

  /** What each pair of the table brings now. A pair that may pass is tried again for some seconds: the machine may be busy. */
  async function tryAll(allowed?: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
    const outcomes = new Map<string, string>()
    const tries = triesOfAll()
    for (let at = 0; at < tries.length; at += TRIED_AT_ONCE)
      await Promise.all(
        tries.slice(at, at + TRIED_AT_ONCE).map(async ([pair, attempt]) => {
          const may = allowed?.has(pair.replace(/ IPv\d$/, '')) ?? true
          const first = await attempt()
          outcomes.set(pair, may && first !== 'answered' ? await untilAnswered(attempt) : first)
        }),
      )
    return outcomes
  }

  function triesOfAll(): (readonly [pair: string, attempt: () => Promise<string>])[] {
    const pairs = [
      ...pairsOf(['admin', 'web', 'db', 'phone'], ['admin', 'web', 'db'], PORTS),
      ...pairsOf(['admin', 'web'], ['printer'], ['tcp:22', 'icmp']),
      ...pairsOf(['admin'], ['far'], ['tcp:22', 'icmp']),
    ]
    return [
      ...pairs.flatMap(({ from, to, what }) => {
        const [on = '', port = '0'] = what.split(':')
        return at(addresses, to).map((address, family) => {
          const attempt = () => at(probers, from).ask({ on: on as 'tcp', address, port: Number(port) })
          return [`${from}>${to} ${what} IPv${family === 0 ? 4 : 6}`, attempt] as const
        })
      }),
      ...['admin', 'db'].flatMap((from) => [
        [`${from}>web service`, () => tryService(from)] as const,
        [`${from}>web egress`, () => at(probers, from).ask({ on: 'http', address: FAR, port: 443 })] as const,
      ]),
      ...['admin', 'web'].map((from) => [`${from}>db files`, () => tryFile(from)] as const),
    ]
  }

  /** The outcome of the last try. */
  async function untilAnswered(attempt: () => Promise<string>): Promise<string> {
    let last = ''
    const tryAgain = async () => expect((last = await attempt())).toBe('answered')
    await eventually(tryAgain, { withinMs: 8_000, everyMs: 200 }).catch(() => {})
    return last
  }

  /** Through a local port of the node, where the service sends back what comes. */
  async function tryService(from: string): Promise<string> {
    const port = proxied.get(from) ?? 9_000 + proxied.size
    if (!proxied.has(from)) {
      proxied.set(from, port)
      await at(machines, from).control.putNodeConnection({
        name: 'shop',
        body: { Listen: `127.0.0.1:${port}` },
      })
    }
    return at(probers, from).ask({ on: 'tcp', address: '127.0.0.1', port })
  }

  async function tryFile(from: string): Promise<string> {
    const { control } = at(machines, from)
    return control.lookIntoFile({ name: 'share' }).then(
      () => 'answered',
      (error: Error) => (error.message.includes('may not reach') ? 'refused' : error.message),
    )
  }

  function expectTable(outcomes: ReadonlyMap<string, string>, allowed: ReadonlySet<string>): void {
    const wrong = [...outcomes].filter(([pair, outcome]) => {
      const may = allowed.has(pair.replace(/ IPv\d$/, ''))
      return may !== (outcome === 'answered')
    })
    expect(wrong).toEqual([])
  }

  test('without a policy everybody reaches everything', async () => {
    for (const [name, machine] of machines)
      for (const other of machines.values())
        if (other !== machine) {
          await pingSoon(lab, name, other.v4)
          await pingSoon(lab, name, other.v6)
        }
    await at(machines, 'admin').control.putExitNode({ body: { Exit: 'web' } })
    await pingSoon(lab, 'admin', PRINTER)
    await pingSoon(lab, 'admin', FAR)
    await pingSoon(lab, 'phone', at(machines, 'web').v4)
    const refused = [...(await tryAll())].filter(([, outcome]) => outcome !== 'answered')
    expect(refused).toEqual([])
  }, 90_000)

  test('a policy holds for each pair of the table', async () => {
    await run(['rules', 'set', '-', '--force'], POLICY)
    await inForce(1)
    const outcomes = await tryAll(ALLOWED)
    expect(outcomes.size).toBeGreaterThanOrEqual(60)
    expectTable(outcomes, ALLOWED)
    // a refusal is told: nobody waits for an answer that does not come
    expect(outcomes.get('web>db tcp:22 IPv4')).toBe('refused')
    expect(outcomes.get('web>db tcp:22 IPv6')).toBe('refused')
    expect(outcomes.get('admin>web udp:3478 IPv4')).toBe('refused')
  }, 60_000)

  test('a change ends what is no longer allowed within two seconds, and cuts nothing else', async () => {
    const [admin, { v4 }] = [at(probers, 'admin'), at(machines, 'db')]
    const [kept, ended] = [await admin.hold(v4, 22), await admin.hold(v4, 5432)]
    await run(['rules', 'set', '-', '--force'], CHANGED)
    await eventually(() => expect(ended.ended()).toBe(true), { withinMs: 2_000, everyMs: 20 })
    await inForce(2)
    expectTable(await tryAll(ALLOWED_LATER), ALLOWED_LATER)
    expect(kept.ended()).toBe(false)
  }, 60_000)

  test('a refusal is counted by pair, and said in words', async () => {
    const { control } = at(machines, 'db')
    await eventually(async () => {
      const { Refused } = await control.getRules()
      const pairs = Refused.map(({ From, To, Count }) => [From.Name, To.Name, Count > 0])
      expect(pairs).toContainEqual(['admin', 'db', true])
    }, SOON)
    expect(await control.getMetrics()).toMatch(/mesh_rules_refused/)
    const says = async (name: string, ...words: readonly string[]) => {
      const environment = { MESHSTATEDIR: at(machines, name).stateDir, MESHTOKEN: token }
      const { stdout, stderr } = await vpn.mesh.run(words, { environment })
      return stdout + stderr
    }
    expect(await says('db', 'ping', 'web', '--count=1')).toContain('db may not reach web: no rule allows it')
    expect(await says('admin', 'ping', 'db', '--count=1')).toMatch(/admin may reach db on .*tcp:22.* only/)
    expect(await says('db', 'doctor')).toMatch(/policy 2 of the network.*They refused \d+ flows here/)
  })

  test('a node that starts again holds to the policy from its first packet', async () => {
    const { v4 } = at(machines, 'db')
    const before = at(machines, 'db')
    await before.kill()
    machines.set(
      'db',
      await vpn.start(
        'db',
        [
          '--mdns=false',
          '--accept-routes',
          '--name=db',
          '--address=10.1.0.30/24',
          '--address=fd00:1::30/64',
          `--discovery-bootstrap-peers=${at(machines, 'admin')
            .addresses.filter((each) => each.includes('/192.168.90.1/tcp/'))
            .join(',')}`,
        ],
        { token, stateDir: before.stateDir },
      ),
    )
    const admin = at(probers, 'admin')
    await eventually(
      async () => expect(await admin.ask({ on: 'tcp', address: v4, port: 22 })).toBe('answered'),
      SOON,
    )
    expect(await admin.ask({ on: 'tcp', address: v4, port: 5432 })).toBe('refused')
  }, 60_000)

  async function inForce(serial: number): Promise<void> {
    for (const { control } of machines.values())
      await eventually(async () => expect((await control.getRules()).Network?.Serial).toBe(serial), {
        withinMs: 2_000,
        everyMs: 20,
      })
  }
})

function pairsOf(froms: readonly string[], tos: readonly string[], whats: readonly string[]) {
  return froms.flatMap((from) =>
    tos.filter((to) => to !== from).flatMap((to) => whats.map((what) => ({ from, to, what }))),
  )
}
