/** Looks at this machine for the doctor: files, sockets, interfaces. Changes nothing that stays. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { type Clock, MeshError, toError } from '@mesh/core'
import { engineSupport, kernelSupport } from '@mesh/engine'
import type { Settings } from '../settings/options.ts'
import { examineExit } from '@mesh/exit-node'
import { hasIpv6 } from '../machine/vpn-host.ts'
import { readOpenFiles } from '../machine/open-files.ts'
import { describeExposedNetwork, readNetwork } from '../state/network.ts'
import { describeSharedFolder } from '../files/refuse-shared-folder.ts'
import { lookUpHost } from '../look-up-host.ts'
import { version } from '../version.ts'
import type { MachineFacts } from './facts.ts'
import { gatherNameServers } from './gather-name-servers.ts'
import { bindUdp, gatherPlaces, listenTcp } from './gather-places.ts'
import { LOOK_MS, type Tried, tried } from './tried.ts'

const ANY_FREE = { host: '127.0.0.1', port: 0 } as const

export async function gatherMachine(
  settings: Settings,
  stateDir: string,
  clock: Clock,
): Promise<MachineFacts> {
  const interfaces = Object.entries(networkInterfaces())
  const [tcp, udp, places, ownName, nameServers] = await Promise.all([
    tried(() => listenTcp(ANY_FREE), clock),
    tried(() => bindUdp(ANY_FREE), clock),
    gatherPlaces(settings, clock),
    tried(() => lookUpHost(hostname(), LOOK_MS), clock),
    gatherNameServers(clock),
  ])
  return {
    version,
    wireguard: settings.wireguard,
    support: settings.wireguard === 'kernel' ? kernelSupport() : engineSupport(),
    network: networkOf(settings),
    exposedToken: exposedToken(settings),
    stateDir: { path: stateDir, writing: writing(stateDir) },
    ports: { tcp, udp },
    places,
    interfaces: interfaces
      .filter(([, addresses]) => addresses?.some(({ internal }) => !internal) === true)
      .map(([name]) => ({ name, mtu: mtuOf(name) })),
    hasIpv6: hasIpv6(),
    addresses: interfaces.flatMap(([, addresses]) => addresses?.map(({ address }) => address) ?? []),
    ownName,
    exit: examineExit(settings),
    nameServers,
    maxFiles: readOpenFiles()?.allowed,
  }
}

function networkOf(settings: Settings): MachineFacts['network'] {
  try {
    const network = readNetwork(settings)
    return network === undefined ? undefined : { id: network.id }
  } catch (error) {
    const hint = error instanceof MeshError ? error.hint : undefined
    return {
      error: toError(error).message,
      hint: hint ?? 'Look at the file that --token-file or --config names.',
    }
  }
}

function exposedToken(settings: Settings): string | undefined {
  try {
    return describeExposedNetwork(settings)
  } catch {
    // a file that is not there is told by the network itself
    return undefined
  }
}

/** The bytes that a node may want to store at a time: a disk that is full often has room for a name, or for a small file. */
const ROOM_BYTES = 1024 * 1024

/**
 * Tries to make a folder with a file in it, here or in the first existing folder above. Root may be told that it can write where nobody
 * can, and a full disk shows as well. A folder that other users could replace counts as not working.
 */
export function writing(stateDir: string): Tried {
  let folder = stateDir
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  let made: string | undefined
  try {
    const shared = describeSharedFolder(folder)
    if (shared !== undefined) return { works: false, reason: shared }
    made = mkdtempSync(join(folder, '.mesh-doctor-'))
    writeFileSync(join(made, 'room'), Buffer.alloc(ROOM_BYTES))
    return { works: true }
  } catch (error) {
    return { works: false, reason: toError(error).message }
  } finally {
    if (made !== undefined) rmSync(made, { recursive: true, force: true })
  }
}

function mtuOf(name: string): number | undefined {
  try {
    return Number(readFileSync(`/sys/class/net/${name}/mtu`, 'utf8'))
  } catch {
    return undefined
  }
}
