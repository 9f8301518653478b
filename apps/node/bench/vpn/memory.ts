/**
 * Resident memory with 1 and with 200 peers that have sessions and packets: the engine, in a bare process of Node.js, and
 * wireguard-go. The peers are the same for both: keys and sockets of one other process.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findWireguardGo, findWireTool, type Lab } from '@mesh/testkit'
import {
  type ManyPeer,
  meetMany,
  MET_ADDRESS,
  type MetEnd,
  openEngineEnd,
  PRESHARED_KEY,
} from '../../../../packages/engine/bench/many-peers.ts'
import { runIn } from '../../test/vpn-lab.ts'
import { round } from '../statistics.ts'
import { residentMB } from './processes.ts'
import { endChild, makeKey, startWireguardGo, WIREGUARD_PORT } from './tunnels.ts'

const COUNTS = [1, 200]

export async function measureVpnMemory() {
  const tool = findWireTool()
  if ('skipped' in tool) return { skipped: tool.skipped }
  const measure = async (open: (lab: Lab, peers: readonly ManyPeer[]) => Promise<MetEnd>) => {
    const figures: Record<string, number> = {}
    for (const count of COUNTS) {
      const megabytes = await meetMany({ count, file: tool.file, open }, residentMB)
      figures[`peers${count}MB`] = round(megabytes, 1)
    }
    process.stderr.write(`  vpn.memory: ${JSON.stringify(figures)}\n`)
    return figures
  }
  const does = `resident memory with ${COUNTS.join(' and ')} peers that have sessions`
  const ours = await measure(openEngineEnd)
  if ('skipped' in findWireguardGo()) return { does, ours }
  const wireguardGo = await measure(openWireguardGoEnd)
  const names = Object.keys(ours)
  const ratios = names.map((name) => [name, round((ours[name] ?? 0) / (wireguardGo[name] ?? 0))])
  return { does, ours, wireguardGo, ratios: { oursToWireguardGo: Object.fromEntries(ratios) } }
}

async function openWireguardGoEnd(lab: Lab, peers: readonly ManyPeer[]): Promise<MetEnd> {
  const { privateKey, publicKey } = makeKey()
  const device = `wg${process.pid}m`
  const child = await startWireguardGo({ lab, host: 'left', device, privateKey })
  const folder = mkdtempSync(join(tmpdir(), 'mesh-bench-'))
  try {
    const preshared = join(folder, 'preshared')
    writeFileSync(preshared, PRESHARED_KEY.toString('base64'), { mode: 0o600 })
    const words = peers.flatMap((peer) => {
      const allowed = `${peer.address}/32`
      return ['peer', peer.publicKey, 'preshared-key', preshared, 'allowed-ips', allowed]
    })
    await runIn(lab, 'left', ['wg', 'set', device, ...words])
    lab.run('left', ['ip', 'addr', 'add', MET_ADDRESS, 'dev', device])
    lab.run('left', ['ip', 'link', 'set', device, 'up'])
    const port = Number(WIREGUARD_PORT)
    return { pid: child.pid ?? 0, key: publicKey, port, close: () => endChild(child) }
  } catch (error) {
    await endChild(child)
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
