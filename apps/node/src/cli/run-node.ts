/** `mesh`, `mesh api` and `mesh start`: one node, from the settings to a clean end. */
import { MeshError, systemClock, systemRandom } from '@mesh/core'
import type { Announcement } from '../node/announce.ts'
import { createLogger } from '../log/create-logger.ts'
import { startNode } from '../node/create-node.ts'
import { settle } from '../node/settle.ts'
import { findListenPlace } from '../settings/listen-place.ts'
import { stateFolder } from '../settings/load-settings.ts'
import type { Settings } from '../settings/options.ts'
import { requireNetwork } from '../state/network.ts'
import type { Call, Run } from './command.ts'
import { runUntilSignal } from './run-until-signal.ts'

export const runApi: Run = (call) => runNode(call, { listen: call.settings.listen, hasVpn: false })
export const runStart: Run = (call) => runNode(call, { listen: undefined, hasVpn: false })
export const runVpn: Run = (call) =>
  runNode(call, { listen: call.settings.api ? call.settings.apiListen : undefined, hasVpn: true })

export interface Role {
  /** Where the API listens beside the control socket, as the person gave it. */
  readonly listen: string | undefined
  readonly hasVpn: boolean
  /** An address of --dns that cannot be had ends the node. */
  readonly needsDns?: boolean
  /** Entries that are kept while the node runs, and taken back at its end. */
  readonly announcements?: readonly Announcement[]
}

export async function runNode(call: Call, role: Role): Promise<number> {
  const { command, base, surroundings } = call
  const { listen: place, hasVpn, needsDns = false, announcements = [] } = role
  const settings = withOwnInstance(call)
  const network = requireNetwork(settings, command.name, callOf(surroundings.environment))
  if (hasVpn) await requireEngine()
  const log = createNodeLogger(call)
  const { environment } = surroundings
  const listen =
    place === undefined
      ? undefined
      : findListenPlace({ listen: place, base, environment, pid: process.pid }, log)
  const stateDir = stateFolder(settings, surroundings)
  const init = { settings, network, listen, hasVpn, needsDns, announcements, stateDir }
  const components = { clock: systemClock, random: systemRandom, log, uptimeMs: () => performance.now() }
  const onListening = (url: string | undefined) => {
    if (url !== undefined) call.out(`API and web page: ${url}\n`)
  }
  const onInterface = (name: string, addresses: readonly string[]) =>
    call.out(`VPN: ${name} has ${addresses.join(' and ')}\n`)
  const onDns = (place_: string) => call.out(`DNS: ${place_} (UDP and TCP)\n`)
  const code = await runUntilSignal(log, async (signal) => {
    const node = await startNode(init, components, { signal, onListening, onInterface, onDns })
    settle()
    return node
  })
  // nothing may keep the process that the node has left behind
  process.exit(code)
}

/** Asked before joining: a person should not wait to be told. @throws MeshError `engine.*` */
async function requireEngine(): Promise<void> {
  const { engineSupport } = await import('@mesh/engine')
  const support = engineSupport()
  if (support.supported) return
  throw new MeshError(support.code, `no network interface can be made here: ${support.message}`, {
    hint: `${support.hint}\n  Without an interface: \`mesh api\` serves the network's API and page.`,
  })
}

/** How the person calls `mesh`: in a checkout by its package manager. */
function callOf({ npm_lifecycle_event: script }: Readonly<Record<string, string | undefined>>): string {
  return script === undefined ? 'mesh' : 'pnpm --filter node start'
}

/** Nodes that keep nothing do not stand in each other's way. */
function withOwnInstance({ command, settings, sources }: Call): Settings {
  if (sources.instance.level !== 'default') return settings
  if (settings.ephemeral) return { ...settings, instance: `ephemeral-${process.pid}` }
  // beside a node of this machine, with an identity of its own
  return command.name === 'dns' ? { ...settings, instance: 'dns' } : settings
}

function createNodeLogger({ settings, surroundings, isErrorTerminal }: Call) {
  const { logFormat, logLevel: levels, debug } = settings
  const automatic = isErrorTerminal ? 'human' : 'json'
  const format = logFormat === 'auto' ? automatic : logFormat
  const color = isErrorTerminal && (surroundings.environment['NO_COLOR'] ?? '') === ''
  return createLogger(
    { format, levels, color, debug },
    { clock: systemClock, write: (line) => void process.stderr.write(line) },
  )
}
