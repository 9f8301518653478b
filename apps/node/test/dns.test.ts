/** Names between real nodes, asked with the tools that people use, over UDP and TCP. */
import { createSocket } from 'node:dgram'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { engineSupport } from '@mesh/engine'
import { bridge, createLab, eventually, whyNoNamespaces } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { dig, runTool, startDnsmasq, whyNoDnsTools } from './dns-lab.ts'
import { startEdgevpn, whyNoEdgevpn } from './edgevpn.ts'
import { createMesh, makeToken, type NodeProcess, type StartOptions } from './harness.ts'
import { runIn } from './vpn-lab.ts'
import { createCleanUps, suiteName } from './suite.ts'

const why = whyNoDnsTools()

const cleanUps = createCleanUps()

/** A node that answers DNS; its port. */
async function startDns(args: readonly string[] = [], options: Partial<StartOptions> = {}) {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  const node = await mesh.start({
    token: makeToken(),
    args: [...(args.some((arg) => arg.startsWith('--dns=')) ? [] : ['--dns=127.0.0.1:0']), ...args],
    until: 'dns listening',
    ...options,
  })
  return { mesh, node, port: portOf(node) }
}

function portOf(node: NodeProcess): number {
  return Number(node.lines.find(({ message }) => message === 'dns listening')?.['port'])
}

function machine(id: string, Hostname: string) {
  return { PeerID: id, Hostname, OS: 'linux', Arch: 'amd64', Address: '10.1.0.5', Version: '' }
}

describe.skipIf(why !== undefined)(suiteName('a node that answers DNS', why), () => {
  test('hosts, patterns, reverse names and other names, over UDP and TCP', async () => {
    const upstream = await startDnsmasq([
      '--host-record=www.example.org,192.0.2.80,2001:db8::80',
      '--local=/example.org/',
    ])
    cleanUps.push(upstream.stop)
    const { mesh, node, port } = await startDns([
      `--dns-forward-server=127.0.0.1:${upstream.port}`,
      `--dns-forward-server=dead.example=127.0.0.1:9`,
    ])
    const put = (bucket: string, key: string, body: unknown) =>
      node.client.putJson({ bucket, key, body, wait: '10s' })
    await put('machines', '10.1.0.5', machine(node.id, 'Laptop.example.com'))
    await put('services', 'web', { PeerID: node.id, Name: 'web' })
    await node.client.createDns({
      body: { Regex: 'git\\.mesh\\.', Records: { A: '10.1.0.7', TXT: '"our code"' } },
      wait: '5s',
    })
    await node.client.createDns({
      body: { Regex: '^alias\\.mesh\\.$', Records: { CNAME: 'www.example.org.' } },
      wait: '5s',
    })

    for (const way of ['+notcp', '+tcp']) {
      const short = async (...words: readonly string[]) => (await dig(port, '+short', way, ...words)).trim()
      await eventually(async () => expect(await short('alias.mesh')).toBe('www.example.org.\n192.0.2.80'))
      expect(await short('laptop.mesh')).toBe('10.1.0.5')
      expect(await short(`laptop-${node.id.slice(-8)}.mesh`)).toBe('10.1.0.5')
      expect(await short('web.svc.mesh')).toBe('10.1.0.5')
      expect(await short('x.git.mesh')).toBe('10.1.0.7')
      expect(await short('git.mesh', 'TXT')).toBe('"our code"')
      expect(await short('-x', '10.1.0.5')).toBe('laptop.mesh.')
      expect(await short('www.example.org', 'AAAA')).toBe('2001:db8::80')
      expect(await dig(port, way, 'absent.example.org')).toContain('status: NXDOMAIN')
      expect(await dig(port, way, 'absent.mesh')).toMatch(/status: NXDOMAIN[^]*SOA\tns\.mesh\./)
      expect(await dig(port, way, '-x', '10.1.0.99')).toContain('status: NXDOMAIN')
      expect(await dig(port, way, 'x.dead.example')).toContain('status: SERVFAIL')
      expect(await dig(port, way, 'laptop.mesh', 'ANY')).toContain('RFC8482')
      expect(await dig(port, way, '+opcode=notify', 'mesh')).toContain('status: NOTIMP')
      expect(await dig(port, way, 'CH', 'TXT', 'version.bind')).toContain('status: REFUSED')
      expect(await dig(port, way, '+ednsopt=65001:abcd', 'LaPtOp.mesh')).toContain('LaPtOp.mesh.')
      const kdig = await runTool('kdig', ['@127.0.0.1', '-p', String(port), way, 'LAPTOP.mesh'])
      expect(kdig).toMatch(/LAPTOP\.mesh\.\s+30\s+IN\s+A\s+10\.1\.0\.5/i)
    }
    expect(await dig(port, '+notcp', '+edns=1', '+noednsnegotiation', 'laptop.mesh')).toContain('BADVERS')

    const health = await node.client.getHealth()
    expect(health.Problems.map(({ Code }) => Code)).toContain('dns.forwarders_failing')
    const metrics = await node.client.getMetrics()
    expect(metrics).toMatch(/mesh_dns_queries_total\{code="answered"\} \d\d/)
    const [resolved, status] = await Promise.all([
      mesh.run(['dns', 'resolve', 'git.mesh', `--state-dir=${node.stateDir}`]),
      mesh.run(['status', `--state-dir=${node.stateDir}`]),
    ])
    expect(resolved).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('pattern git\\.mesh\\.') as string,
    })
    expect(status.stdout).toMatch(/^dns {7}127\.0\.0\.1:\d+: \d+ names in mesh\./m)
  })

  test('malformed packets and floods leave it answering', async () => {
    const { node, port } = await startDns()
    const socket = createSocket('udp4')
    for (let at = 0; at < 2_000; at++) {
      const packet = Buffer.from(crypto.getRandomValues(new Uint8Array(at % 100)))
      // half of them look like questions with counts of all kinds
      if (at % 2 === 0 && packet.length > 12)
        packet.set([0, 0, (at >> 3) & 0x7f, 0, 0, at & 3, 0, 0, 0, 0, 0, at & 1], 0)
      socket.send(packet, port, '127.0.0.1')
    }
    await eventually(async () => expect(await dig(port, 'absent.mesh')).toContain('status: NXDOMAIN'), {
      withinMs: 20_000,
    })
    socket.close()
    const { Queries } = await node.client.getDnsServer()
    expect(Queries['malformed']).toBeGreaterThan(0)
  })

  test('a name is tested on a node without a DNS server, which says that it has none', async () => {
    const mesh = createMesh()
    cleanUps.push(() => mesh.cleanUp())
    const node = await mesh.start({ token: makeToken() })
    await node.client.createDns({ body: { Regex: 'a.*', Records: { A: '10.1.0.1' } }, wait: '10s' })
    await node.client.createDns({
      body: { Regex: '^abc\\.mesh\\.$', Records: { A: '10.1.0.2' } },
      wait: '5s',
    })
    await eventually(async () =>
      expect(await node.client.resolveName({ name: 'abc.mesh' })).toMatchObject({
        Code: 'NOERROR',
        Source: 'pattern',
        Winner: { Name: '^abc\\.mesh\\.$', Owner: node.id },
        Losers: [{ Name: 'a.*', Owner: node.id, Reason: 'weaker' }],
      }),
    )
    await expect(node.client.getDnsServer()).rejects.toMatchObject({ code: 'dns.not_running' })
  })

  test('a port in use is told in health, and taken when it is free', async () => {
    const { port, stop } = await startDnsmasq([])
    cleanUps.push(stop)
    const mesh = createMesh()
    cleanUps.push(() => mesh.cleanUp())
    const node = await mesh.start({ token: makeToken(), args: [`--dns=127.0.0.1:${port}`] })
    await eventually(async () => {
      const { Problems } = await node.client.getHealth()
      expect(Problems).toMatchObject([{ Code: 'dns.cannot_listen', Severity: 'error' }])
    })
    await stop()
    await node.waitForLine('dns listening', 20_000)
    expect((await node.client.getHealth()).Problems.map(({ Code }) => Code)).not.toContain(
      'dns.cannot_listen',
    )
  })

  test('`mesh dns` registers records while it runs, and takes them back', async () => {
    const token = makeToken()
    const { mesh, node, port } = await startDns([], { token })
    const bootstrap = node.addresses.filter(
      (address) => address.includes('/tcp/') && !address.includes('/ws'),
    )
    const bad = await mesh.run(['dns', '--regex=(', '--a=nonsense'], { environment: { MESHTOKEN: token } })
    expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining('--regex') as string })
    const records = await mesh.start({
      command: 'dns',
      token,
      args: [`--discovery-bootstrap-peers=${bootstrap.join(',')}`, '--regex=^git\\.mesh\\.$', '--a=10.1.0.7'],
    })
    await eventually(async () => expect((await dig(port, '+short', 'git.mesh')).trim()).toBe('10.1.0.7'), {
      withinMs: 20_000,
    })
    expect(records.lines.map(({ message }) => message)).not.toContain('dns listening')
    expect((await records.stop()).code).toBe(0)
    await eventually(async () => expect(await dig(port, 'git.mesh')).toContain('NXDOMAIN'), {
      withinMs: 10_000,
    })
  })
})

describe.skipIf(why !== undefined)(suiteName('a node that runs already', why), () => {
  test('`mesh dns` asks it to register records, and ends', async () => {
    const { mesh, node, port } = await startDns()
    const dns = (...args: readonly string[]) =>
      mesh.run(['dns', `--state-dir=${node.stateDir}`, '--regex=^git\\.mesh\\.$', ...args])
    const asked = await dns('--a=10.1.0.7')
    expect(asked).toMatchObject({ code: 0, stderr: '' })
    expect(asked.stdout).toContain("`mesh ledger delete dns '^git\\.mesh\\.$'` ends it.")
    expect((await dig(port, '+short', 'git.mesh')).trim()).toBe('10.1.0.7')
    const again = await dns('--aaaa=fd00::7', '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({ State: 'Committed' })
    expect(await node.client.listDns()).toEqual([{ Regex: '^git\\.mesh\\.$', Records: { AAAA: 'fd00::7' } }])

    // several patterns in one command, each with the records behind it
    const both = await dns('--a=10.1.0.7', '--regex=^(www|ftp)\\.mesh\\.$', '--a=10.1.0.8', '--txt="two"')
    expect(both).toMatchObject({ code: 0, stderr: '' })
    expect((await dig(port, '+short', 'git.mesh')).trim()).toBe('10.1.0.7')
    expect((await dig(port, '+short', 'ftp.mesh')).trim()).toBe('10.1.0.8')
    expect((await dig(port, '+short', 'www.mesh', 'TXT')).trim()).toBe('"two"')
    for (const wrong of [
      ['--a=10.1.0.7', '--a=10.1.0.8'],
      ['--a=10.1.0.7', '--regex=^git\\.mesh\\.$', '--txt=a'],
      ['--a=10.1.0.7', '--regex=two'],
    ]) {
      expect(await dns(...wrong)).toMatchObject({ code: 2, stdout: '' })
    }
  })
})

const support = engineSupport()
const whyNoVpn = support.supported ? undefined : support.message
const noVpn = whyNoVpn === undefined ? '' : ` (skipped: ${whyNoVpn})`
const whyNotInside = why ?? whyNoNamespaces(['ip', 'dig'])

describe.skipIf(whyNotInside !== undefined)(suiteName('--dns-configure', whyNotInside), () => {
  const ORIGINAL = 'search example.org\nnameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n'

  /** A host whose /etc/resolv.conf is its own; this machine's is never touched. */
  function isolated() {
    const lab = createLab(['host'])
    const folder = `/etc/netns/${lab.name('host')}`
    mkdirSync(folder, { recursive: true })
    const file = join(folder, 'resolv.conf')
    writeFileSync(file, ORIGINAL)
    cleanUps.push(() => {
      lab.close()
      rmSync(folder, { recursive: true })
    })
    return { lab, read: () => readFileSync(file, 'utf8'), write: (text: string) => writeFileSync(file, text) }
  }

  const ARGS = ['--dns=127.0.0.1:53', '--dns-configure', '--no-dns-forwarder']

  test('puts this node before the servers of the machine, and takes it back at the end', async () => {
    const { lab, read } = isolated()
    const { mesh, node } = await startDns(ARGS, {
      prefix: lab.inside('host', []),
      until: 'resolver configured',
    })
    expect(read()).toMatch(
      /^# Made by mesh[^\n]*\nnameserver 127\.0\.0\.1\nnameserver 192\.0\.2\.1\nnameserver 192\.0\.2\.2\nsearch example\.org\n$/,
    )
    expect(lab.run('host', ['dig', '+short', 'mesh', 'NS']).trim()).toBe('ns.mesh.')
    await node.stop()
    expect(read()).toBe(ORIGINAL)
    await mesh.cleanUp()
  })

  test('is undone at the next start after a crash, and leaves alone what somebody wrote since', async () => {
    const { lab, read, write } = isolated()
    const prefix = lab.inside('host', [])
    const { mesh, node } = await startDns(ARGS, { prefix, until: 'resolver configured' })
    await node.kill()
    expect(read()).toContain('nameserver 127.0.0.1')
    const again = await mesh.start({ token: makeToken(), stateDir: node.stateDir, prefix })
    expect(read()).toBe(ORIGINAL)
    await again.stop()
    const third = await mesh.start({
      token: makeToken(),
      stateDir: node.stateDir,
      prefix,
      args: ARGS,
      until: 'resolver configured',
    })
    await third.kill()
    write('nameserver 198.51.100.1\n')
    await mesh.start({ token: makeToken(), stateDir: node.stateDir, prefix })
    expect(read()).toBe('nameserver 198.51.100.1\n')
  })

  test.skipIf(whyNoVpn !== undefined)(
    `asks systemd-resolved for the zone alone where that runs${noVpn}`,
    async () => {
      const { lab, read } = isolated()
      const mesh = createMesh()
      cleanUps.push(() => mesh.cleanUp())
      const calls = join(mesh.folder, 'calls')
      const fake = join(mesh.folder, 'bin')
      mkdirSync(fake)
      writeFileSync(join(fake, 'resolvectl'), `#!/bin/sh\necho "$@" >> ${calls}\n`, { mode: 0o755 })
      const node = await mesh.start({
        command: 'vpn',
        token: makeToken(),
        prefix: lab.inside('host', ['env', `PATH=${fake}:${process.env['PATH']}`]),
        args: ['--address=10.1.0.5/24', ...ARGS],
        until: 'resolver configured',
      })
      await node.stop()
      expect(read()).toBe(ORIGINAL)
      const lines = readFileSync(calls, 'utf8').trim().split('\n')
      expect(lines.slice(0, 2)).toEqual(['status', 'dns mesh0 127.0.0.1'])
      expect(lines[2]).toMatch(/^domain mesh0 ~mesh ~0\.1\.10\.in-addr\.arpa ~.*ip6\.arpa$/)
      expect(lines.slice(3)).toEqual(['default-route mesh0 no', 'revert mesh0'])
    },
  )
})

const whyNotEdgevpn = whyNotInside ?? whyNoEdgevpn()

describe.skipIf(whyNotEdgevpn !== undefined)(suiteName('with EdgeVPN', whyNotEdgevpn), () => {
  test('records go both ways: each answers what the other registered', { timeout: 120_000 }, async () => {
    const token = makeToken()
    const lab = createLab(['switch', 'ours', 'theirs'])
    cleanUps.push(() => lab.close())
    bridge(lab, 'switch', { ours: ['192.168.90.1/24'], theirs: ['192.168.90.2/24'] })
    const { node } = await startDns(['--dns=127.0.0.1:42357', '--no-dns-forwarder'], {
      token,
      prefix: lab.inside('ours', []),
      baseArgs: ['--private', '--dht=false'],
    })
    const theirs = await startEdgevpn({
      token,
      apiPort: 8080,
      vpnAddress: '10.1.0.3/24',
      prefix: lab.inside('theirs', []),
      args: ['--dns', '127.0.0.1:42357', '--dns-forwarder=false'],
    })
    cleanUps.push(() => theirs.stop())
    const asked = async (host: string, name: string) =>
      (await runIn(lab, host, ['dig', '+short', '+tries=1', '@127.0.0.1', '-p', '42357', name])).trim()
    await node.control.createDns({
      body: { Regex: '^ours\\.mesh\\.$', Records: { A: '10.1.0.7' } },
      wait: '10s',
    })
    await theirs.ask('POST', '/api/dns', { Regex: '^theirs\\.mesh\\.$', Records: { A: '10.1.0.8' } })
    const soon = { withinMs: 60_000, everyMs: 500 }
    await eventually(async () => expect(await asked('theirs', 'ours.mesh')).toBe('10.1.0.7'), soon)
    await eventually(async () => expect(await asked('ours', 'theirs.mesh')).toBe('10.1.0.8'), soon)
    const host = hostname().split('.')[0]?.toLowerCase() ?? ''
    await eventually(async () => expect(await asked('ours', `${host}.mesh`)).toBe('10.1.0.3'), soon)
  })
})
