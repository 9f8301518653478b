/** `mesh` without a command, as a person runs it: what it says, what it needs, how it ends, and who asks it. */
import { createLab, eventually, type Lab } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import type { VpnView } from '@mesh/api-contract'
import { type CommandResult, commandWords, createMesh, makeToken, type Mesh } from './harness.ts'
import { createVpnLab, runIn, type VpnLab, whyNoVpn } from './vpn-lab.ts'
import { createCleanUps } from './suite.ts'

const why = whyNoVpn(['ip', 'setpriv', 'unshare'])
const suite = why === undefined ? 'mesh in namespaces' : `mesh in namespaces (skipped: ${why})`

const cleanUps = createCleanUps()

/** Hosts on one wire, `a` at 192.168.90.1 and `b` at .2. */
function onWire(): { readonly lab: Lab; readonly vpn: VpnLab } {
  const lab = createLab(['a', 'b'])
  const vpn = createVpnLab(lab)
  cleanUps.push(() => vpn.close())
  lab.wire(
    { host: 'a', device: 'eth0', addresses: ['192.168.90.1/24'] },
    { host: 'b', device: 'eth0', addresses: ['192.168.90.2/24'] },
  )
  return { lab, vpn }
}

/** A call that is expected to end by itself, in a host and behind the words of `wrap`. */
async function runMesh(
  { lab, vpn }: ReturnType<typeof onWire>,
  args: readonly string[],
  wrap: readonly string[] = [],
): Promise<{ readonly code: number; readonly text: string }> {
  const stateDir = vpn.mesh.makeFolder()
  const words = [
    ...wrap,
    ...commandWords(),
    '--private',
    '--dht=false',
    `--token=${vpn.token}`,
    `--state-dir=${stateDir}`,
  ]
  try {
    const out = await runIn(lab, 'a', ['env', `HOME=${stateDir}`, ...words, ...args])
    return { code: 0, text: out }
  } catch (error) {
    // what follows is the process's own
    const [, text = String(error)] = String(error).split(/ in a (?=ended with \d)/)
    return { code: Number(/^ended with (\d+)/.exec(text)?.[1] ?? Number.NaN), text }
  }
}

describe('without a VPN', () => {
  test('`mesh` says how to make one', async () => {
    const { code, stderr } = await newMesh().run([])
    expect(code).toBe(2)
    expect(stderr).toContain('`mesh` needs to know which network to join')
    expect(stderr).toContain('mesh --token-file mesh.token')
  })

  test('a node without the VPN looks for whom it pings among its peers', async () => {
    const mesh = newMesh()
    const node = await mesh.start({ token: makeToken(), until: 'all transports listening' })
    const answer = await mesh.run(['ping', '10.1.0.2', `--state-dir=${node.stateDir}`])
    expect(answer.code).toBe(3)
    expect(answer.stderr).toContain('[peer.unknown]')
    const status = await mesh.run(['status', '--json', `--state-dir=${node.stateDir}`])
    expect(JSON.parse(status.stdout)).toMatchObject({ Vpn: null })
  })
})

function newMesh(): Mesh {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  return mesh
}

describe.skipIf(why !== undefined)(suite, () => {
  test.each([
    [
      'without privileges',
      ['setpriv', '--bounding-set=-net_admin', '--inh-caps=-net_admin'],
      ['engine.no_permission', 'NET_ADMIN'],
    ],
    [
      'without /dev/net/tun',
      ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /dev/net && exec "$@"', 'sh'],
      ['engine.no_tun', '/dev/net/tun'],
    ],
  ])('%s it says why before it joins, and what to do', async (_case, wrap, texts) => {
    const { code, text } = await runMesh(onWire(), [], wrap)
    expect(code).toBe(6)
    for (const each of [...texts, 'no network interface can be made here', 'mesh api'])
      expect(text).toContain(each)
    expect(text).not.toContain('host listening')
    expect(text).not.toContain('    at ')
  })

  test('an interface name that is taken is refused by name, and left alone', async () => {
    const here = onWire()
    here.lab.run('a', ['ip', 'link', 'add', 'mesh0', 'type', 'veth', 'peer', 'name', 'other'])
    const { code, text } = await runMesh(here, ['--address=10.1.0.1/24'])
    expect(code).toBe(6)
    expect(text).toContain('mesh0')
    expect(text).toContain('--interface')
    expect(here.lab.run('a', ['ip', 'link'])).toContain('mesh0')
  })

  test("an address in a network of the machine's is refused by name", async () => {
    const { code, text } = await runMesh(onWire(), ['--address=192.168.90.77/24'])
    expect(code).toBe(6)
    expect(text).toContain('vpn.address_in_use')
    expect(text).toContain('192.168.90')
  })

  test('an address that another member has is refused, naming it', async () => {
    const here = onWire()
    const b = await here.vpn.start('b', ['--address=10.1.0.7/24'])
    const known = b.addresses.filter((address) => address.includes('/192.168.90.2/tcp/'))
    expect(known).not.toEqual([])
    // its interface stands before its ledger tells of it
    await eventually(
      async () =>
        expect(await b.control.listMachines()).toMatchObject([{ PeerID: b.id, Address: '10.1.0.7' }]),
      { withinMs: 30_000 },
    )
    const args = ['--address=10.1.0.7/24', `--discovery-bootstrap-peers=${known.join(',')}`]
    const { code, text } = await runMesh(here, args, ['timeout', '--signal=INT', '60'])
    expect(text).toContain('vpn.address_taken')
    expect(code).toBe(6)
    expect(text).toContain('10.1.0.7')
    expect(here.lab.run('a', ['ip', 'link'])).not.toContain('mesh0')
  })

  test('runs until Ctrl-C, serves the API beside, and takes its interface away', async () => {
    const { lab, vpn } = onWire()
    const a = await vpn.start('a', [
      '--address=10.1.0.1/24',
      '--api',
      '--api-listen=127.0.0.1:8099',
      '--mtu=1400',
    ])
    expect(lab.run('a', ['ip', 'addr', 'show', 'mesh0'])).toMatch(
      /mtu 1400[^]*inet 10\.1\.0\.1\/24[^]*inet6 fd/,
    )
    const fetched = await runIn(lab, 'a', [
      process.execPath,
      '-e',
      "fetch('http://127.0.0.1:8099/api/vpn').then((answer) => answer.text()).then((text) => process.stdout.write(text))",
    ])
    const view = JSON.parse(fetched) as VpnView
    expect(view).toMatchObject({ State: 'running', Interface: 'mesh0', MTU: 1400, Peers: [] })
    expect(view.Addresses).toContain('10.1.0.1/24')
    const machines = await a.control.listMachines()
    expect(machines).toMatchObject([{ PeerID: a.id, OS: 'linux', Address: '10.1.0.1' }])
    expect(machines[0]?.Addresses).toHaveLength(2)
    expect(await a.control.getMetrics()).toContain('mesh_vpn_sessions 0\n')
    const { code, afterMs } = await a.stop('SIGINT')
    expect(code).toBe(0)
    expect(afterMs).toBeLessThan(2_000)
    expect(lab.run('a', ['ip', 'link'])).not.toContain('mesh0')
  })

  test('leases an address without being told one, and keeps it with the identity', async () => {
    const { vpn } = onWire()
    const first = await vpn.start('a')
    expect(first.v4).toMatch(/^10\.1\.0\.\d+$/)
    await first.stop()
    const again = await vpn.start('a', [], { stateDir: first.stateDir })
    expect([again.id, again.v4, again.v6]).toEqual([first.id, first.v4, first.v6])
  })

  test('`mesh status` and `mesh ping` show machines, and end with what they found', async () => {
    const { lab, vpn } = onWire()
    const [a, b] = await Promise.all([
      vpn.start('a', ['--address=10.1.0.1/24']),
      vpn.start('b', ['--address=10.1.0.2/24']),
    ])
    const ask = (...args: string[]): Promise<CommandResult> =>
      vpn.mesh.run([...args, `--state-dir=${a.stateDir}`, `--token=${vpn.token}`])
    const pong = await eventually(
      async () => {
        const answer = await ask('ping', '10.1.0.2', '--count=2')
        expect(answer.code).toBe(0)
        return answer
      },
      { withinMs: 30_000 },
    )
    expect(pong.stdout).toMatch(/^(\S+ \(10\.1\.0\.2\) by direct (tcp|udp): \d+\.\d ms, MTU 1280\n){2}$/)
    expect(await runIn(lab, 'a', ['ping', '-n', '-c', '3', '-i', '0.2', b.v6])).toContain('3 received')
    const json = await ask('ping', b.id, '--count=1', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ PeerID: b.id, Address: '10.1.0.2', Way: 'sealed' })

    const status = await ask('status')
    expect(status.stdout).toMatch(/^vpn +running, mesh0 with MTU 1280, 10\.1\.0\.1\/24/m)
    expect(status.stdout).toMatch(/^10\.1\.0\.2 .* direct (tcp|udp \S+) .* \d+ B/m)
    const { Vpn } = JSON.parse((await ask('status', '--json')).stdout) as { Vpn: VpnView }
    expect(Vpn.Peers).toMatchObject([{ PeerID: b.id, Way: 'sealed', Path: 'direct' }])
    expect(Vpn.Peers[0]?.PacketsOut).toBeGreaterThanOrEqual(3)

    expect(await ask('ping', '10.1.0.99')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('10.1.0.99') as string,
    })
    await b.kill()
    const silent = await ask('ping', '10.1.0.2', '--count=1')
    expect(silent).toMatchObject({ code: 1, stdout: '' })
    expect(silent.stderr).toContain('no answer from 10.1.0.2')
  })
})
