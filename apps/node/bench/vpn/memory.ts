/**
 * Resident memory with 1 and with 200 peers that have sessions and packets: the engine, in a bare process of Node.js, and
 * wireguard-go. The peers are the same for both: keys and sockets of one other process.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLab, findWireguardGo, findWireTool, type Lab } from '@mesh/testkit'
import { startHost } from '../../../../packages/engine/test/hosts.ts'
import { makePeers, type ManyPeer, startManyPeers } from '../../../../packages/engine/test/many-peers.ts'
import { runIn } from '../../test/vpn-lab.ts'
import { round } from '../statistics.ts'
import { residentMB } from './processes.ts'
import { endChild, makeKey, startWireguardGo } from './tunnels.ts'

const COUNTS = [1, 200]
const SECONDS = 6
const MTU = 1_420
const ADDRESS = '10.9.0.1'
const PORT = 51_820
/** As the engine's test program has it: 32 bytes of 5. */
const PRESHARED_KEY = Buffer.alloc(32, 5)

/** An end that many peers meet. */
interface Meeting {
  readonly lab: Lab
  readonly pid: number
  /** Base64. */
  readonly key: string
  readonly port: number
  close(): Promise<void>
}

export async function measureVpnMemory() {
  const tool = findWireTool()
  if ('skipped' in tool) return { skipped: tool.skipped }
  const results: Record<string, Record<string, number>> = { ours: {} }
  for (const count of COUNTS) {
    const peers = makePeers(count)
    results['ours'] = { ...results['ours'], ...(await residentWith(openEngineFor, peers, tool.file)) }
    if ('skipped' in findWireguardGo()) continue
    const theirs = await residentWith(openWireguardGoFor, peers, tool.file)
    results['wireguardGo'] = { ...results['wireguardGo'], ...theirs }
  }
  const { ours = {}, wireguardGo } = results
  const name = (count: number) => `peers${count}MB`
  const ratios =
    wireguardGo &&
    Object.fromEntries(
      COUNTS.map((count) => [name(count), round((ours[name(count)] ?? 0) / (wireguardGo[name(count)] ?? 0))]),
    )
  return {
    does: 'resident memory with 1 and 200 peers that have sessions',
    ...results,
    ratios: { oursToWireguardGo: ratios },
  }
}

async function residentWith(
  open: (lab: Lab, peers: readonly ManyPeer[]) => Promise<Meeting>,
  peers: readonly ManyPeer[],
  file: string,
): Promise<Record<string, number>> {
  const lab = createLab(['left', 'right'])
  const end = (host: string, address: string) => ({ host, device: 'eth0', addresses: [address] })
  try {
    lab.wire(end('left', '192.168.9.1/24'), end('right', '192.168.9.2/24'))
    const { pid, key, port, close } = await open(lab, peers)
    try {
      const [endpoint, presharedKey] = [`192.168.9.1:${port}`, PRESHARED_KEY.toString('hex')]
      const to = { lab, host: 'right', file, endpoint, key, presharedKey, target: ADDRESS, seconds: SECONDS }
      const { ready, result } = startManyPeers({ ...to, peers })
      await ready
      const { silent } = await result
      if (silent > 0) throw new Error(`${silent} of ${peers.length} peers had no answer`)
      const MB = round(residentMB(pid), 1)
      process.stderr.write(`  vpn.memory ${open.name} ${peers.length}: ${MB} MB\n`)
      return { [`peers${peers.length}MB`]: MB }
    } finally {
      await close()
    }
  } finally {
    lab.close()
  }
}

async function openEngineFor(lab: Lab, peers: readonly ManyPeer[]): Promise<Meeting> {
  const host = startHost(lab, 'left', {
    name: 'mesh0',
    mtu: MTU,
    addresses: [`${ADDRESS}/16`],
    allowed: [],
    guests: peers.map(({ publicKey, address }) => ({ key: publicKey, address })),
  })
  const { publicKey, port } = await host.next()
  return { lab, pid: host.pid, key: String(publicKey), port: Number(port), close: () => host.kill() }
}

async function openWireguardGoFor(lab: Lab, peers: readonly ManyPeer[]): Promise<Meeting> {
  const { privateKey, publicKey } = makeKey()
  const device = `wg${process.pid}memory`.slice(0, 15)
  const child = await startWireguardGo({ lab, host: 'left', device, privateKey })
  const folder = mkdtempSync(join(tmpdir(), 'mesh-bench-'))
  try {
    const preshared = join(folder, 'preshared')
    writeFileSync(preshared, PRESHARED_KEY.toString('base64'), { mode: 0o600 })
    const words = peers.flatMap((peer) => [
      ...['peer', peer.publicKey, 'preshared-key', preshared],
      ...['allowed-ips', `${peer.address}/32`],
    ])
    await runIn(lab, 'left', ['wg', 'set', device, ...words])
    lab.run('left', ['ip', 'addr', 'add', `${ADDRESS}/16`, 'dev', device])
    lab.run('left', ['ip', 'link', 'set', device, 'up'])
    return { lab, pid: child.pid ?? 0, key: publicKey, port: PORT, close: () => endChild(child) }
  } catch (error) {
    await endChild(child)
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
