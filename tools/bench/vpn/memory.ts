/**
 * Resident memory with 1 and with 200 peers that have sessions and packets: the engine, in a bare process of Node.js, and
 * wireguard-go. The peers are the same for both: keys and sockets of one other process.
 */
import { findWireguardGo, findWireTool, type Lab } from '@mesh/testkit'
import {
  type ManyPeer,
  meetMany,
  MET_ADDRESS,
  type MetEnd,
  openEngineEnd,
  PRESHARED_KEY,
} from '../../../packages/engine/bench/many-peers.ts'
import { round } from '../statistics.ts'
import { residentMB } from './processes.ts'
import { endChild, startWireguardGo, WIREGUARD_PORT } from './tunnels.ts'
import { addWireguardPeers, makeWireguardKeys } from './wireguard-uapi.ts'

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
  const { privateKey, publicKey } = makeWireguardKeys()
  const device = `wg${process.pid}m`
  const child = await startWireguardGo({ lab, host: 'left', device, privateKey })
  try {
    await addWireguardPeers(
      device,
      peers.map(({ publicKey: key, address }) => ({
        publicKey: key,
        presharedKey: PRESHARED_KEY,
        allowed: `${address}/32`,
      })),
    )
    lab.run('left', ['ip', 'addr', 'add', MET_ADDRESS, 'dev', device])
    lab.run('left', ['ip', 'link', 'set', device, 'up'])
    return { pid: child.pid ?? 0, key: publicKey, port: WIREGUARD_PORT, close: () => endChild(child) }
  } catch (error) {
    await endChild(child)
    throw error
  }
}
