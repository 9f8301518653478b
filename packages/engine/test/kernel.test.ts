/**
 * The kernel's WireGuard in the engine's place, with a program that stands in for the kernel's netlink: it takes the real
 * messages, and wireguard-go does what they say. At the other end is the engine itself.
 */
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLab, eventually, findWireguardGo, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engineSupport, kernelSupport } from '../src/index.ts'
import { type Host, startHost, startProgram } from './hosts.ts'

const wireguardGo = findWireguardGo(['wg'])
const [support, own] = [engineSupport(), kernelSupport()]
const whyNot =
  whyNoNamespaces(['ip', 'ping', 'nft', 'wg']) ?? (support.supported ? undefined : support.message)
const fakeWhy = whyNot ?? ('skipped' in wireguardGo ? wireguardGo.skipped : undefined)
const ownWhy = whyNot ?? (own.supported ? undefined : own.message)
const titleOf = (kernel: string, reason: string | undefined) =>
  `the kernel's WireGuard: ${kernel}${reason === undefined ? '' : ` (skipped: ${reason})`}`

const program = join(import.meta.dirname, 'fake-kernel.ts')
// wireguard-go's processes share a folder of control sockets across namespaces
const device = `kw${process.pid % 1_000_000}`
const [LEFT, RIGHT, LEFT6, RIGHT6] = ['192.168.9.1', '192.168.9.2', 'fd77::1', 'fd77::2']

describe.skipIf(fakeWhy !== undefined)(titleOf('a stand-in', fakeWhy), () => {
  checks(true)
})
// where this machine's kernel has WireGuard, it is tried as well
describe.skipIf(ownWhy !== undefined)(titleOf("this machine's own", ownWhy), () => {
  checks(false)
})

describe.skipIf(whyNot !== undefined)('a kernel without WireGuard', () => {
  it('says so where the kernel has no WireGuard', async () => {
    const lab = createLab(['left'])
    const folder = mkdtempSync(join(tmpdir(), 'mesh-kernel-'))
    const path = join(folder, 'without.sock')
    const without = startProgram(lab, 'left', [program, path, 'none'])
    await without.next()
    const host = startHost(lab, 'left', {
      name: 'mesh1',
      mtu: 1280,
      kernel: path,
      addresses: [],
      allowed: [],
    })
    expect(await host.next()).toMatchObject({ error: { code: 'engine.no_kernel_wireguard' } })
    await Promise.all([host.kill(), without.kill()])
    lab.close()
    rmSync(folder, { recursive: true, force: true })
    // the machine's own kernel: with the module it would make one, and this one must not stay
    expect(execFileSync('ip', ['link'], { encoding: 'utf8' })).not.toContain('mesh1')
  })
})

function checks(isFake: boolean): void {
  let lab: Lab
  let folder: string | undefined
  let fake: Host | undefined
  let left: Host
  let right: Host
  const ports = { left: 0, right: 0 }

  beforeAll(async () => {
    const made = mkdtempSync(join(tmpdir(), 'mesh-kernel-'))
    folder = made
    lab = createLab(['left', 'right'])
    const end = (host: string, addresses: string[]) => ({ host, device: 'eth0', addresses })
    lab.wire(end('left', [`${LEFT}/24`, `${LEFT6}/64`]), end('right', [`${RIGHT}/24`, `${RIGHT6}/64`]))
    const file = 'file' in wireguardGo ? wireguardGo.file : ''
    if (isFake) {
      fake = startProgram(lab, 'left', [program, join(made, 'netlink.sock'), file])
      expect(await fake.next()).toEqual({ listening: true })
    }
    const path = join(made, 'wire.sock')
    right = startHost(lab, 'right', {
      name: 'mesh0',
      mtu: 1280,
      listen: path,
      addresses: ['10.9.0.2/24', 'fd09::2/64'],
      allowed: ['10.9.0.1/32', 'fd09::1/128'],
    })
    expect(await right.next()).toEqual({ listening: true })
    left = startHost(lab, 'left', {
      name: device,
      mtu: 1280,
      connect: path,
      kernel: isFake ? join(made, 'netlink.sock') : '',
      addresses: ['10.9.0.1/24', 'fd09::1/64'],
      allowed: ['10.9.0.2/32', 'fd09::2/128'],
    })
    const [joinedLeft, joinedRight] = await Promise.all([left.next(), right.next()])
    expect([joinedLeft['noise'], joinedLeft['error']]).toEqual([undefined, undefined])
    ;[ports.left, ports.right] = [Number(joinedLeft['port']), Number(joinedRight['port'])]
  }, 60_000)
  afterAll(async () => {
    await left?.kill()
    await right?.kill()
    await fake?.kill()
    lab?.close()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  function ping(from: 'left' | 'right', to: string, count = 3): string {
    return lab.run(from, ['ping', '-n', '-c', String(count), '-i', '0.1', '-W', '3', to])
  }

  async function taken(host: Host): Promise<number> {
    const { moved } = await host.ask('stats')
    return (moved as { taken: number }).taken
  }

  function endpoint(): string {
    return lab.run('left', ['wg', 'show', device, 'endpoints']).split('\t')[1]?.trim() ?? ''
  }

  it('carries over a stream, by a port of the loopback interface, and tells of the session', async () => {
    expect(ping('left', '10.9.0.2')).toContain(' 0% packet loss')
    expect(ping('right', 'fd09::1')).toContain(' 0% packet loss')
    expect(endpoint()).toMatch(/^127\.0\.0\.1:/)
    expect(await taken(left)).toBeGreaterThan(0)
    await eventually(async () => {
      const { events, peer } = await left.ask('stats')
      expect(events).toContainEqual(expect.objectContaining({ type: 'session' }))
      expect((peer as { bytesIn: number }).bytesIn).toBeGreaterThan(500)
    })
    const { filtered } = await left.ask('filtered')
    expect(filtered).toEqual([
      { name: device, local: [] },
      { name: device, local: ['10.9.0.1/32', 'fd09::1/128'] },
    ])
  })

  it('closes all tunnels while there are rules, which the kernel cannot keep', async () => {
    expect(await left.ask('rules 10')).toHaveProperty('ms')
    expect(lab.run('left', ['wg', 'show', device, 'peers'])).toBe('')
    expect(await left.ask('rules 0')).toHaveProperty('ms')
    expect(ping('left', '10.9.0.2')).toContain(' 0% packet loss')
  })

  it.each([
    ['IPv4', LEFT, RIGHT],
    ['IPv6', LEFT6, RIGHT6],
  ])('carries probes of %s on the port of the kernel', async (_, here, there) => {
    expect(await left.ask(`send ${there} ${ports.right} hello-to-the-right`)).toEqual({ sent: true })
    await eventually(async () => {
      const { datagrams } = await right.ask('datagrams')
      expect(datagrams).toEqual([
        { from: { address: here, port: ports.left }, length: 18, text: 'hello-to-the-right' },
      ])
    })
    await right.ask(`send ${here} ${ports.left} hello-to-the-left`)
    await eventually(async () => {
      const { datagrams } = await left.ask('datagrams')
      expect(datagrams).toEqual([
        { from: { address: there, port: ports.right }, length: 17, text: 'hello-to-the-left' },
      ])
    })
    // one that does not fit the way is refused, and never cut into pieces
    expect(await left.ask(`send ${there} ${ports.right} ${'x'.repeat(1600)}`)).toEqual({ sent: false })
  })

  it('takes probes of a pair that bear its code, those from where the other end is however often others send them', async () => {
    const [token, theirs, key] = [Buffer.alloc(8, 7), Buffer.alloc(8, 9), Buffer.alloc(32, 1)]
    const names = [token, theirs, key].map((bytes) => bytes.toString('hex')).join(' ')
    expect(await left.ask(`expect ${names} ${RIGHT} ${ports.right}`)).not.toHaveProperty('error')
    const [question, other] = [probeOf(1, token, 5, key), probeOf(1, token, 5, Buffer.alloc(32, 2))]
    for (const datagram of [other, question, question, question, question, question, question])
      sendFromElsewhere(datagram)
    for (let copy = 0; copy < 3; copy++)
      await right.ask(`bytes ${LEFT} ${ports.left} ${question.toString('hex')}`)
    // what was asked is answered once, from there alone
    const asked = probeOf(1, theirs, 6, Buffer.alloc(32, 3))
    const answer = probeOf(2, token, 6, key)
    await left.ask(`bytes ${RIGHT} ${ports.right} ${asked.toString('hex')}`)
    sendFromElsewhere(answer)
    for (const datagram of [answer, answer, Buffer.from('the last one')])
      await right.ask(`bytes ${LEFT} ${ports.left} ${datagram.toString('hex')}`)
    const came: { readonly from: { readonly port: number }; readonly text: string }[] = []
    await eventually(async () => {
      came.push(...((await left.ask('datagrams'))['datagrams'] as typeof came))
      expect(came.map(({ text }) => text)).toContain('the last one')
    })
    const count = (datagram: Buffer, isRight: boolean) =>
      came.filter(
        ({ from, text }) => text === datagram.toString('latin1') && (from.port === ports.right) === isRight,
      ).length
    expect([count(question, false), count(question, true)]).toEqual([4, 1])
    expect([count(answer, false), count(answer, true)]).toEqual([0, 1])
    expect(count(other, false)).toBe(0)
    await right.ask('datagrams')
  })

  /** From another port of the right host. */
  function sendFromElsewhere(datagram: Buffer): void {
    const program = `const socket = require('node:dgram').createSocket('udp4')
      socket.send(Buffer.from('${datagram.toString('hex')}', 'hex'), ${ports.left}, '${LEFT}', () => socket.close())`
    lab.run('right', [process.execPath, '-e', program])
  }

  it('goes over UDP when told, and back to the stream where the way is blocked', async () => {
    await left.ask(`path ${RIGHT} ${ports.right}`)
    await right.ask(`path ${LEFT} ${ports.left}`)
    expect(ping('left', '10.9.0.2')).toContain(' 0% packet loss')
    expect(endpoint()).toBe(`${RIGHT}:${ports.right}`)
    const before = await taken(left)
    expect(ping('left', '10.9.0.2')).toContain(' 0% packet loss')
    expect(await taken(left)).toBe(before)
    lab.run('left', [
      'nft',
      'add table inet cut; add chain inet cut out { type filter hook output priority 0; }',
    ])
    lab.run('left', ['nft', `add rule inet cut out udp dport ${ports.right} drop`])
    await left.ask('path stream')
    await right.ask('path stream')
    expect(ping('left', '10.9.0.2')).toContain(' 0% packet loss')
    expect(await taken(left)).toBeGreaterThan(before)
    lab.run('left', ['nft', 'delete table inet cut'])
  })

  it('is led back to where it was told when a datagram came another way', async () => {
    // the other end sends over UDP: WireGuard answers there
    await right.ask(`path ${LEFT} ${ports.left}`)
    expect(ping('right', '10.9.0.1')).toContain(' 0% packet loss')
    await right.ask('path stream')
    await eventually(() => expect(endpoint()).toMatch(/^127\.0\.0\.1:/), { withinMs: 10_000 })
    expect(ping('left', '10.9.0.2')).toContain(' 0% packet loss')
  })

  it('does not use a way that takes less than the longest packet', async () => {
    await left.ask(`path ${RIGHT} ${ports.right} 1200`)
    expect(endpoint()).toMatch(/^127\.0\.0\.1:/)
    expect(ping('left', '10.9.0.2')).toContain(' 0% packet loss')
  })

  it('keeps the session when a peer has other ranges, hundreds of them too', async () => {
    const handshake = () => lab.run('left', ['wg', 'show', device, 'latest-handshakes']).split('\t')[1]
    const before = handshake()
    const many = Array.from({ length: 700 }, (_, at) => `10.77.${at >> 8}.${at & 255}/32`)
    await left.ask(`allow 10.9.0.2/32 fd09::2/128 ${many.join(' ')}`)
    expect(lab.run('left', ['wg', 'show', device, 'allowed-ips']).split(' ')).toHaveLength(702)
    expect(ping('left', '10.9.0.2')).toContain(' 0% packet loss')
    await left.ask('path stream')
    expect(lab.run('left', ['wg', 'show', device, 'allowed-ips']).split(' ')).toHaveLength(2)
    expect(handshake()).toBe(before)
  })

  it('a removed peer is silent at once; one without a tunnel is looked for', async () => {
    await left.ask('remove')
    expect(lab.run('left', ['wg', 'show', device, 'peers'])).toBe('')
    expect(() => ping('right', '10.9.0.1', 1)).toThrow('ping')
    await left.ask('forget')
    await eventually(async () => {
      const { events } = await left.ask('stats')
      expect(events).toContainEqual(expect.objectContaining({ type: 'pathNeeded' }))
    })
    await left.ask('path stream')
    expect(ping('left', '10.9.0.2')).toContain(' 0% packet loss')
  })

  it('has routes, and leaves nothing', async () => {
    expect(await left.ask('routes 10.44.0.0/16')).toEqual({ done: true })
    expect(lab.run('left', ['ip', 'route', 'show', '10.44.0.0/16'])).toContain(device)
    expect(await left.ask('addresses 10.9.0.7/24')).toEqual({ done: true })
    expect(lab.run('left', ['ip', 'addr', 'show', device])).not.toContain('10.9.0.1/')
    expect(await left.ask('close')).toEqual({ done: true })
    await eventually(() => expect(() => lab.run('left', ['ip', 'link', 'show', device])).toThrow(device))
  })
}

/** A probe of a path (docs/PROTOCOLS.md, 'Paths over UDP'): 1 a question, 2 an answer. */
function probeOf(kind: 1 | 2, token: Buffer, nonce: number, key: Buffer): Buffer {
  const rest = Buffer.alloc(kind === 1 ? 14 : 28)
  rest.writeUInt32BE(nonce, 4)
  const content = Buffer.concat([Buffer.from(`mp\x01`), Buffer.of(kind), token, rest])
  return Buffer.concat([content, createHmac('sha256', key).update(content).digest().subarray(0, 16)])
}
