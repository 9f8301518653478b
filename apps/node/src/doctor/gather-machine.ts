/** Looks at this machine for the doctor: files, sockets, interfaces. Changes nothing that stays. */
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { dirname } from 'node:path'
import { type Clock, MeshError, toError, untilAborted, withDeadline } from '@mesh/core'
import { engineSupport, kernelSupport } from '@mesh/engine'
import type { Settings } from '../settings/options.ts'
import { examineExit } from '../exit/examine-exit.ts'
import { readOpenFiles } from '../node/open-files.ts'
import { describeExposedNetwork, readNetwork } from '../state/network.ts'
import { version } from '../version.ts'
import type { MachineFacts, Tried } from './facts.ts'

/** How long one look may take, in ms. */
const LOOK_MS = 3_000

export async function gatherMachine(
  settings: Settings,
  stateDir: string,
  clock: Clock,
): Promise<MachineFacts> {
  const interfaces = Object.entries(networkInterfaces())
  const [tcp, udp, ownName] = await Promise.all([
    tried(() => listenTcp(), clock),
    tried(() => bindUdp(), clock),
    tried(() => lookup(hostname()), clock),
  ])
  return {
    version,
    wireguard: settings.wireguard,
    support: settings.wireguard === 'kernel' ? kernelSupport() : engineSupport(),
    network: networkOf(settings),
    exposedToken: exposedToken(settings),
    stateDir: { path: stateDir, writing: writing(stateDir) },
    ports: { tcp, udp },
    interfaces: interfaces
      .filter(([, addresses]) => addresses?.some(({ internal }) => !internal) === true)
      .map(([name]) => ({ name, mtu: mtuOf(name) })),
    addresses: interfaces.flatMap(([, addresses]) => addresses?.map(({ address }) => address) ?? []),
    ownName,
    exit: examineExit(settings),
    maxFiles: readOpenFiles()?.allowed,
  }
}

/** Tries it, within its time; what it threw becomes the reason. */
export async function tried(look: () => Promise<unknown>, clock: Clock): Promise<Tried> {
  try {
    const reason = () => new Error(`nothing came of it within ${LOOK_MS} ms`)
    await withDeadline({ clock, ms: LOOK_MS, reason }, (signal) => untilAborted(look(), signal))
    return { works: true }
  } catch (error) {
    return { works: false, reason: toError(error).message }
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

/** The folder itself, or the first one above it that is there, since the node makes the rest. */
function writing(stateDir: string): Tried {
  let folder = stateDir
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return { works: true }
  } catch (error) {
    return { works: false, reason: toError(error).message }
  }
}

function listenTcp(): Promise<void> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => server.close(() => resolve()))
  })
}

function bindUdp(): Promise<void> {
  const socket = createSocket('udp4')
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close()
      reject(error)
    })
    socket.bind(0, '127.0.0.1', () => socket.close(() => resolve()))
  })
}

function mtuOf(name: string): number | undefined {
  try {
    return Number(readFileSync(`/sys/class/net/${name}/mtu`, 'utf8'))
  } catch {
    return undefined
  }
}
