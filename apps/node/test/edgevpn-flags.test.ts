/** Called `edgevpn`: nodes start with every flag and every variable of the original, and with the lines of Kairos' units. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLab, eventually, freePort } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { edgevpnFlags, flagsAt } from '../src/settings/edgevpn/flags.ts'
import { createMesh, makeToken, type Mesh } from './harness.ts'
import { portOf, startEcho } from './service-lab.ts'
import { createCleanUps, suiteName } from './suite.ts'
import { whyNoVpn } from './vpn-lab.ts'

const CALLED = { MESH_COMMAND: '/usr/local/bin/edgevpn' }
const PEER = '12D3KooWBw8cBnFkhVW1hqA8YHp9PkmFdeK977d8Zw4YzKKa4yjb'
const cleanUps = createCleanUps()

function ourMesh(): Mesh {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  return mesh
}

/** A value for each common flag, and the option that `config` shows for it: undefined, it has no effect. */
type Expected = Readonly<Record<string, readonly [value: string, option?: string, shown?: unknown]>>

/** @param key a private key of the peer gate */
const commonFlags = (folder: string, token: string, key: string): Expected => ({
  'listen-maddrs': ['/ip4/127.0.0.1/tcp/0', 'listen-maddrs', ['/ip4/127.0.0.1/tcp/0']],
  'dht-announce-maddrs': ['/ip4/127.0.0.1/tcp/41001', 'dht-announce-maddrs', ['/ip4/127.0.0.1/tcp/41001']],
  timeout: ['15s'],
  mtu: ['1300', 'mtu', 1300],
  'bootstrap-iface': ['true'],
  'packet-mtu': ['1420'],
  'channel-buffer-size': ['0'],
  'discovery-interval': ['700', 'discovery-interval', 700_000],
  'ledger-announce-interval': ['10'],
  'autorelay-discovery-interval': ['5m'],
  'autorelay-static-only': ['true'],
  'ledger-synchronization-interval': ['10'],
  'nat-ratelimit-global': ['10'],
  'nat-ratelimit-peer': ['10'],
  'nat-ratelimit-interval': ['60'],
  'nat-ratelimit': ['true'],
  'max-connections': ['0', 'max-connections', 100],
  'ledger-state': [join(folder, 'ledger'), 'ledger-state', join(folder, 'ledger')],
  mdns: ['false', 'mdns', false],
  autorelay: ['false', 'autorelay', false],
  concurrency: ['2'],
  holepunch: ['false', 'holepunch', false],
  natservice: ['false', 'natservice', false],
  natmap: ['false', 'natmap', false],
  dht: ['false', 'dht', false],
  'low-profile': ['true'],
  'aliveness-healthcheck-interval': ['60', 'aliveness-healthcheck-interval', 60_000],
  'aliveness-healthcheck-scrub-interval': ['500', 'aliveness-healthcheck-scrub-interval', 500_000],
  'aliveness-healthcheck-max-interval': ['900', 'ownership-ttl', 900_000],
  'log-level': ['debug', 'log-level', 'debug,p2p=error'],
  'libp2p-log-level': ['fatal', 'log-level', 'debug,p2p=error'],
  'discovery-bootstrap-peers': [`/ip4/127.0.0.1/tcp/41002/p2p/${PEER}`, 'discovery-bootstrap-peers'],
  'connection-high-water': ['100', 'max-connections', 100],
  'connection-low-water': ['50', 'max-connections', 100],
  'autorelay-static-peer': [
    `/ip4/127.0.0.1/tcp/41003/p2p/${PEER}`,
    'discovery-bootstrap-peers',
    [`/ip4/127.0.0.1/tcp/41002/p2p/${PEER}`, `/ip4/127.0.0.1/tcp/41003/p2p/${PEER}`],
  ],
  'relay-service': ['false', 'relay-service', false],
  'relay-service-network-only': ['true'],
  'relay-service-acl-refresh': ['30s'],
  'relay-service-max-data': ['131072', 'relay-service-max-data', 131_072],
  'relay-service-max-duration': ['30m0s', 'relay-service-max-duration', 1_800_000],
  'relay-service-max-circuits': ['16', 'relay-service-max-circuits', 16],
  'relay-service-reservation-ttl': ['1h0m0s', 'relay-service-reservation-ttl', 3_600_000],
  'relay-service-buffer-size': ['2048'],
  blacklist: ['203.0.113.0/24', 'blacklist', ['203.0.113.0/24']],
  token: [token, 'token', expect.stringContaining('***')],
  'limit-enable': ['true'],
  'limit-file': ['limits.json'],
  'limit-scope': ['system'],
  'limit-config-streams': ['200'],
  'limit-config-streams-inbound': ['30'],
  'limit-config-streams-outbound': ['30'],
  'limit-config-conn': ['200'],
  'limit-config-conn-inbound': ['30'],
  'limit-config-conn-outbound': ['30'],
  'limit-config-fd': ['30'],
  peerguard: ['true', 'peerguard', true],
  ownership: ['ENFORCE', 'ownership', 'enforce'],
  'ownership-ttl': ['0', 'ownership-ttl', 900_000],
  'privkey-cache': ['true', 'state-dir', join(folder, 'keys')],
  'privkey-cache-dir': [join(folder, 'keys'), 'state-dir', join(folder, 'keys')],
  'static-peertable': [`10.1.0.9:${PEER}`, 'static-peertable', [`10.1.0.9:${PEER}`]],
  whitelist: ['/ip4/127.0.0.1/tcp/41004'],
  peergate: ['false', 'peergate', false],
  'peergate-autoclean': ['true', 'peergate-autoclean', true],
  'peergate-relaxed': ['true', 'peergate-relaxed', true],
  'peergate-auth': [`{"ecdsa":{"private_key":"${key}"}}`, 'peergate-auth', expect.stringContaining('***')],
  'peergate-interval': ['100', 'peergate-interval', 100_000],
})

/** What only some commands take is tried with them below; `config` names the network in place of `token`. */
const TRIED_ELSEWHERE = ['config']

async function setUp() {
  const mesh = ourMesh()
  const token = makeToken()
  const { stdout: key } = await mesh.run(['peergater', 'ecdsa-genkey', '--privkey'], { environment: CALLED })
  return { mesh, token, given: commonFlags(mesh.folder, token, key.trim()) }
}

async function shownBy(mesh: Mesh, args: readonly string[], environment: Record<string, string> = {}) {
  const { stdout, stderr } = await mesh.run(['config', ...args, '--json'], {
    environment: { ...CALLED, ...environment },
  })
  if (stdout === '') throw new Error(stderr)
  const { options } = JSON.parse(stdout) as { options: { name: string; value: unknown }[] }
  return new Map(options.map(({ name, value }) => [name, value]))
}

function expectShown(shown: ReadonlyMap<string, unknown>, given: Expected) {
  const wanted = Object.values(given).flatMap(([, option, value]) =>
    option === undefined || value === undefined ? [] : [[option, value] as const],
  )
  expect(Object.fromEntries(shown)).toMatchObject(Object.fromEntries(wanted))
}

describe('called edgevpn', () => {
  test('the common flags are all tried', async () => {
    const { given } = await setUp()
    const common = edgevpnFlags.filter(({ places }) => places === 'common').map(({ flag }) => flag)
    expect([...Object.keys(given), ...TRIED_ELSEWHERE].toSorted()).toEqual(common.toSorted())
  })

  test('a node starts with every common flag, and says once which have no effect', async () => {
    const { mesh, token, given } = await setUp()
    const args = Object.entries(given).map(([flag, [value]]) => `--${flag}=${value}`)
    expectShown(await shownBy(mesh, args), given)
    const node = await mesh.start({ token, baseArgs: [], args: ['--private', ...args], environment: CALLED })
    expect(await node.control.getNode()).toMatchObject({ Instance: 'api', Ownership: 'enforce' })
    const { flags } = await node.waitForLine('flags of EdgeVPN without effect here')
    const silent = Object.keys(given).filter((flag) => given[flag]?.[1] === undefined)
    expect(flags).toEqual(expect.arrayContaining(silent.map((flag) => `--${flag}`)))
    expect(node.lines.filter(({ message }) => message.startsWith('flags of EdgeVPN'))).toHaveLength(1)
  })

  test('a node starts with every common variable', async () => {
    const { mesh, token, given } = await setUp()
    const named = flagsAt('main').flatMap(({ flag, variable }) => {
      const value = given[flag]?.[0]
      return variable === undefined || value === undefined ? [] : [[variable, value] as const]
    })
    const environment = Object.fromEntries(named)
    expectShown(await shownBy(mesh, [], environment), given)
    const node = await mesh.start({
      token,
      baseArgs: ['--private'],
      environment: { ...CALLED, ...environment, ENABLE_HEALTHCHECKS: 'true' },
    })
    expect(await node.control.getNode()).toMatchObject({ Instance: 'api' })
  })

  test('the flags of the main command have their effect', async () => {
    const mesh = ourMesh()
    const given: Expected = {
      api: ['true', 'api', true],
      'api-listen': ['127.0.0.1:41005', 'api-listen', '127.0.0.1:41005'],
      debug: ['true', 'debug', true],
      dhcp: ['true', 'dhcp', true],
      'transient-conn': ['true'],
      'lease-dir': [join(mesh.folder, 'lease'), 'state-dir', join(mesh.folder, 'lease')],
      address: ['10.9.0.1/24', 'address', ['10.9.0.1/24']],
      dns: ['127.0.0.1:41006', 'dns', ['127.0.0.1:41006']],
      'dns-forwarder': ['false', 'dns-forwarder', false],
      'dns-cache-size': ['100', 'dns-cache-size', 100],
      'dns-forward-server': ['9.9.9.9:53', 'dns-forward-server', ['9.9.9.9:53']],
      egress: ['true', 'egress', true],
      'egress-announce-time': ['200'],
      router: ['10.9.0.2', 'router', '10.9.0.2'],
      interface: ['edge7', 'interface', 'edge7'],
    }
    const own = flagsAt('main').filter(({ places }) => places !== 'common')
    const generating = ['g', 'b', 'key-otp-interval']
    expect([...Object.keys(given), ...generating].toSorted()).toEqual(own.map(({ flag }) => flag).toSorted())
    const args = Object.entries(given).map(([flag, [value]]) => `--${flag}=${value}`)
    expectShown(await shownBy(mesh, args), given)
    const variables = own.flatMap(({ flag, variable }) =>
      variable === undefined ? [] : [[variable, given[flag]?.[0] ?? ''] as const],
    )
    expectShown(await shownBy(mesh, ['--debug'], Object.fromEntries(variables)), given)
    const defaults = await shownBy(mesh, [])
    expect(['interface', 'mtu', 'address', 'api-values'].map((name) => defaults.get(name))).toEqual([
      'edgevpn0',
      1200,
      ['10.1.0.1/24'],
      'text',
    ])
    const made = await mesh.run(['-g', '-b', '-key-otp-interval', '9000'], { environment: CALLED })
    expect(Buffer.from(made.stdout, 'base64').toString()).toContain('interval: 9000\n')
  })

  test('an API alone listens where APILISTEN says, as in a unit of Kairos', async () => {
    const mesh = ourMesh()
    const socket = join(mesh.folder, 'edgevpn.sock')
    const config = join(mesh.folder, 'network.yaml')
    writeFileSync(config, Buffer.from(makeToken(), 'base64'), { mode: 0o600 })
    const node = await mesh.start({
      token: '',
      args: ['--listen=', '--enable-healthchecks', '--debug=false'],
      environment: { ...CALLED, EDGEVPNCONFIG: config, APILISTEN: `unix://${socket}` },
    })
    expect(node.url).toBe(`unix://${socket}`)
    expect((await mesh.run(['status', `--api-url=unix://${socket}`], { environment: CALLED })).code).toBe(0)
  })

  test('services, files, DNS and the proxy are given and used by the short names and flags', async () => {
    const [mesh, token, echo] = [ourMesh(), makeToken(), await startEcho()]
    cleanUps.push(() => echo.close())
    const start = (command: string, args: string[], until: string) =>
      mesh.start({ command: command as 'api', token, args, until, environment: CALLED })
    const file = join(mesh.folder, 'file.txt')
    writeFileSync(file, 'hello')
    const hub = await start('sa', ['--name', 'echo', '--address', `127.0.0.1:${echo.port}`], 'host listening')
    const known = `--discovery-bootstrap-peers=${hub.addresses[0]}`
    const client = await start('sc', ['--name=echo', '--address=127.0.0.1:0', known], 'service provider')
    expect(await portOf(client, 'echo')).toBeGreaterThan(0)
    await start('fs', ['--name', 'file', '--path', file, known], 'host listening')
    mkdirSync(join(mesh.folder, 'inbox'))
    const copy = join(mesh.folder, 'inbox', 'copy.txt')
    const receiver = await start('fr', ['--name', 'file', '--path', copy, known], 'host listening')
    expect(await receiver.exited).toMatchObject({ code: 0 })
    const dns = await start(
      'dns',
      [`--listen=127.0.0.1:${await freePort()}`, '--dns-cache-size=10'],
      'host listening',
    )
    expect((await dns.control.getDnsServer()).Forwarders.map(({ Server }) => Server)).toEqual([
      '8.8.8.8:53',
      '1.1.1.1:53',
    ])
    await start('start', [known], 'host listening')
    const proxyArgs = ['--interval=120', '--dead-interval=600', `--listen=127.0.0.1:${await freePort()}`]
    await start('proxy', proxyArgs, 'proxy listening')
    const port = await freePort()
    const both = await start(
      'proxy',
      [...proxyArgs.slice(0, 2), '--listen=127.0.0.1:0', '--api', `--api-listen=127.0.0.1:${port}`],
      'proxy listening',
    )
    expect(both.url).toBe(`http://127.0.0.1:${port}`)
  })

  test('without that name EdgeVPN is only hinted at', async () => {
    const mesh = ourMesh()
    const { stderr, code } = await mesh.run(['api'], { environment: { EDGEVPNTOKEN: makeToken() } })
    expect(code).toBe(2)
    expect(stderr).toContain('EDGEVPNTOKEN is set')
    expect(stderr).toContain('--edgevpn')
    expect((await mesh.run(['api', '--low-profile'])).stderr).toContain('--edgevpn')
    expect((await mesh.run(['config', '--edgevpn'])).stdout).toContain('edgevpn0')
  })
})

const why = whyNoVpn(['ip'])
describe.skipIf(why !== undefined)(suiteName('the VPN called edgevpn', why), () => {
  test("starts with the environment of Kairos' unit", { timeout: 60_000 }, async () => {
    const lab = createLab(['kairos'])
    cleanUps.push(() => lab.close())
    const mesh = ourMesh()
    const socket = join(mesh.folder, 'edgevpn-kairos.sock')
    const node = await mesh.start({
      command: 'vpn',
      token: '',
      prefix: lab.inside('kairos', []),
      baseArgs: ['--natmap=false', '--mdns=false'],
      environment: {
        ...CALLED,
        EDGEVPNTOKEN: makeToken(9_223_372_036_854_775_807n),
        API: 'true',
        APILISTEN: `unix://${socket}`,
        APILISTENUNIXMODE: '0600',
        DHCP: 'true',
        DHCPLEASEDIR: join(mesh.folder, 'lease'),
        EDGEVPNDHT: 'false',
        EDGEVPNLOWPROFILE: 'true',
      },
      until: 'interface up',
    })
    const vpn = await eventually(async () => {
      const view = await node.control.getVpn()
      expect(view.State).toBe('running')
      return view
    })
    expect(vpn).toMatchObject({
      Interface: 'edgevpn0',
      MTU: 1200,
      Addresses: [expect.stringMatching(/^10\.1\.0\.\d+\/24$/)],
    })
  })
})
