/** The engine over UDP with a stock WireGuard at the other end: handshakes of either side, traffic, renewed keys. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createLab, eventually, findWireguardGo, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engineSupport } from '../src/index.ts'
import { type Host, startHost } from './hosts.ts'

const wireguardGo = findWireguardGo(['wg'])
const support = engineSupport()
const why =
  whyNoNamespaces(['ip', 'ping', 'iperf3']) ??
  (support.supported ? undefined : support.message) ??
  ('skipped' in wireguardGo ? wireguardGo.skipped : undefined)
const title = `wireguard-go at the other end${why === undefined ? '' : ` (skipped: ${why})`}`

const PORT = '51820'
/** As the engine's test program has it: 32 bytes of 5. */
const PRESHARED_KEY = Buffer.alloc(32, 5).toString('base64')

describe.skipIf(why !== undefined)(title, () => {
  let lab: Lab
  let ours: Host
  let theirs: ChildProcess
  let ourKey = ''
  let ourPort = 0
  // its name is this process's own: these processes share a folder of control sockets across namespaces
  const device = `wg${process.pid}`

  beforeAll(async () => {
    lab = createLab(['left', 'right'])
    const end = (host: string, address: string) => ({ host, device: 'eth0', addresses: [address] })
    lab.wire(end('left', '192.168.9.1/24'), end('right', '192.168.9.2/24'))
    const [file, ...words] = lab.inside('right', [
      'file' in wireguardGo ? wireguardGo.file : '',
      '-f',
      device,
    ])
    const environment = { ...process.env, WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: '1' }
    theirs = spawn(file, words, { stdio: 'ignore', env: environment })
    await eventually(() => lab.run('right', ['wg', 'show', device]))
    const privateKey = execFileSync('wg', ['genkey'], { encoding: 'utf8' })
    const publicKey = execFileSync('wg', ['pubkey'], { encoding: 'utf8', input: privateKey })
    wg(`listen-port ${PORT} private-key /dev/stdin`, privateKey)
    ours = startHost(lab, 'left', {
      name: 'mesh0',
      mtu: 1280,
      addresses: ['10.9.0.1/24'],
      allowed: ['10.9.0.2/32'],
      wireguard: {
        publicKey: Buffer.from(publicKey, 'base64').toString('hex'),
        address: '192.168.9.2',
        port: Number(PORT),
      },
    })
    const line = await ours.next()
    ;[ourKey, ourPort] = [String(line['publicKey']), Number(line['port'])]
    lab.run('right', ['ip', 'addr', 'add', '10.9.0.2/24', 'dev', device])
    lab.run('right', ['ip', 'link', 'set', device, 'mtu', '1280', 'up'])
    addPeer()
  })
  afterAll(async () => {
    await ours?.kill()
    if (theirs !== undefined && theirs.exitCode === null) {
      const gone = once(theirs, 'exit')
      theirs.kill()
      await gone
    }
    lab?.close()
  })

  function wg(words: string, input: string): void {
    // by a pipe of the shell: the tool cannot open the socket that would be its input here
    lab.run('right', ['sh', '-c', `printf %s '${input.trim()}' | wg set ${device} ${words}`])
  }

  function addPeer(): void {
    const endpoint = `endpoint 192.168.9.1:${ourPort}`
    wg(`peer ${ourKey} preshared-key /dev/stdin allowed-ips 10.9.0.1/32 ${endpoint}`, PRESHARED_KEY)
  }

  async function sessions(): Promise<number> {
    const { events } = await ours.ask('stats')
    return (events as { type: string }[]).filter(({ type }) => type === 'session').length
  }

  function ping(from: string, to: string): string {
    return lab.run(from, ['ping', '-n', '-c', '3', '-i', '0.05', '-W', '3', to])
  }

  it('exchanges keys and packets, begun by either side', () => {
    expect(ping('left', '10.9.0.2')).toContain(' 0% packet loss')
    expect(ping('right', '10.9.0.1')).toContain(' 0% packet loss')
  })

  it('carries TCP both ways', async () => {
    const [command, ...args] = lab.inside('right', ['iperf3', '-s', '--forceflush'])
    const server = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      await once(server.stdout, 'data')
      for (const direction of [[], ['-R']]) {
        const result = lab.run('left', ['iperf3', '-c', '10.9.0.2', ...direction, '-t', '1', '-J'])
        const { end } = JSON.parse(result) as { end: { sum_received: { bits_per_second: number } } }
        expect(end.sum_received.bits_per_second).toBeGreaterThan(10e6)
      }
    } finally {
      server.kill()
    }
  })

  it('renews the keys when the other end has forgotten them, without a pause', async () => {
    const before = await sessions()
    wg(`peer ${ourKey} remove`, '')
    addPeer()
    expect(ping('right', '10.9.0.1')).toContain(' 0% packet loss')
    expect(ping('left', '10.9.0.2')).toContain(' 0% packet loss')
    expect(await sessions()).toBeGreaterThan(before)
  })
})
