/** `mesh`, `mesh api`, `mesh start` and the commands of one purpose: one node, from the settings to a clean end. */
import { randomBytes } from 'node:crypto'
import { type Logger, MeshError, type Random, systemClock, systemRandom } from '@mesh/core'
import type { Announcement } from '../../compose/announce.ts'
import { createLogger } from '../../log/create-logger.ts'
import { createLogLevels, type LogLevels } from '../../log/log-level.ts'
import { createLogTail, type LogTail } from '../../log/log-tail.ts'
import { startNode } from '../../compose/create-node.ts'
import type { StartOptions } from '../../compose/node-init.ts'
import type { Sharing } from '../../compose/join-services.ts'
import { ownMemory, startMemoryTrim, trimAfterStart } from '../../memory.ts'
import { findListenPlace } from '../../settings/listen-place.ts'
import { stateFolder } from '../../settings/load-settings.ts'
import type { Settings } from '../../settings/options.ts'
import { describeExposedNetwork, requireNetwork } from '../../state/network.ts'
import { createServiceNotifier, type ServiceNotifier } from '../../systemd/service-notifier.ts'
import { checkoutOf } from '../called-as.ts'
import type { Call, Run } from '../command.ts'
import { runUntilSignal } from './run-until-signal.ts'

export const runApi: Run = (call) => runNode(call, { listen: call.settings.listen, hasVpn: false })
export const runStart: Run = (call) => runNode(call, { listen: undefined, hasVpn: false })
export const runVpn: Run = (call) =>
  runNode(call, { listen: call.settings.api ? call.settings.apiListen : undefined, hasVpn: true })

/** Randomness without WebCrypto, which takes long to load. */
const nodeRandom: Random = { ...systemRandom, bytes: (length) => new Uint8Array(randomBytes(length)) }

export interface Role {
  /** Where the API listens beside the control socket, as the person gave it. */
  readonly listen: string | undefined
  readonly hasVpn: boolean
  /** The settings that the command's arguments give, in place of the others. */
  readonly settings?: Partial<Settings>
  /** Its instance, unless the person names one. */
  readonly instance?: string
  /** Does what the node is for, where it ends by itself; resolves with the exit code. */
  readonly work?: (sharing: Sharing, signal: AbortSignal) => Promise<number>
  /** An address of --dns that cannot be had ends the node. */
  readonly needsDns?: boolean
  /** Entries that are kept while the node runs, and taken back at its end. */
  readonly announcements?: readonly Announcement[]
}

export async function runNode(call: Call, role: Role): Promise<number> {
  const { command, base, surroundings, sources, isErrorTerminal } = call
  const { listen: place, hasVpn, needsDns = false, announcements = [] } = role
  const settings = withOwnInstance(call, role)
  const network = requireNetwork(settings, command.name, surroundings.environment)
  if (hasVpn) await requireEngine(checkoutOf(surroundings.environment))
  const levels = createLogLevels(settings.logLevel)
  const tail = createLogTail()
  const log = createNodeLogger(call, levels, tail)
  const exposed = describeExposedNetwork(settings)
  if (exposed !== undefined) log.warn(exposed)
  if (call.ignored.length > 0) log.debug('flags of EdgeVPN without effect here', { flags: call.ignored })
  const { environment } = surroundings
  const listen =
    place === undefined
      ? undefined
      : findListenPlace({ listen: place, base, environment, pid: process.pid }, log)
  const stateDir = stateFolder(settings, surroundings)
  const namesLevels = sources.logLevel.level !== 'default'
  const origin = { command: command.name, sources, surroundings, isErrorTerminal }
  const given = { settings, origin, base, network, listen, stateDir, namesLevels }
  const init = { ...given, hasVpn, needsDns, announcements }
  const uptimeMs = () => performance.now()
  const components = { clock: systemClock, random: nodeRandom, log, levels, tail, uptimeMs }
  const notes = createPlaceNotes(call)
  const service = createService(environment, log)
  const code = await runUntilSignal(log, async (signal) => {
    signal.addEventListener('abort', () => service.stopping(), { once: true })
    const node = await startNode(init, components, { signal, ...notes })
    trimAfterStart()
    startMemoryTrim({ ...ownMemory, clock: systemClock })
    service.ready(`${node.id} in network ${network.id}`)
    const { work } = role
    return work === undefined ? node : { stop: () => node.stop(), done: work(node.sharing, signal) }
  })
  // nothing may keep the process that the node has left behind
  process.exit(code)
}

/** Tells the service manager that started this process, where one did. */
function createService(environment: Call['surroundings']['environment'], log: Logger): ServiceNotifier {
  return createServiceNotifier(
    { environment, pid: process.pid },
    {
      clock: systemClock,
      log,
      send: async (assignments) => {
        const { runSystemdNotify } = await import('../../systemd/run-systemd-notify.ts')
        await runSystemdNotify(assignments)
      },
    },
  )
}

/** Where the node is found, on standard output: a line for people on a terminal, JSON lines elsewhere as in the log. */
function createPlaceNotes(
  call: Call,
): Pick<StartOptions, 'onListening' | 'onInterface' | 'onDns' | 'onService'> {
  const { logFormat } = call.settings
  const isForPeople = logFormat === 'auto' ? call.isTerminal : logFormat === 'human'
  const log = createLogger(
    { format: 'json', levels: 'info', color: false, debug: false },
    { clock: systemClock, write: (line) => call.out(line) },
  )
  return {
    onListening(url) {
      if (url === undefined) return
      if (isForPeople) call.out(`API and web page: ${url}\n`)
      else log.info('api and web page', { url })
    },
    onInterface(name, addresses) {
      if (isForPeople) call.out(`VPN: ${name} has ${addresses.join(' and ')}\n`)
      else log.info('vpn interface', { interface: name, addresses })
    },
    onDns(place) {
      if (isForPeople) call.out(`DNS: ${place} (UDP and TCP)\n`)
      else log.info('dns', { place })
    },
    onService(text) {
      if (isForPeople) call.out(`${text}\n`)
      else log.info('ready', { text })
    },
  }
}

/** Asked before joining: a person should not wait to be told. @throws MeshError `engine.*` */
async function requireEngine(checkout: string | undefined): Promise<void> {
  const { engineSupport } = await import('@mesh/engine')
  const support = engineSupport()
  if (support.supported) return
  const isUnbuilt = support.code === 'engine.no_addon' && checkout !== undefined
  const hint = isUnbuilt ? BUILD_HINT : support.hint
  throw new MeshError(support.code, `no network interface can be made here: ${support.message}`, {
    hint: `${hint}\n  Without an interface: \`mesh api\` serves the network's API and page.`,
  })
}

const BUILD_HINT =
  'Install Rust 1.95 or later (https://rustup.rs) and a C compiler, run `npm run setup` in the checkout, and read its last line.'

/** Nodes that keep nothing do not stand in each other's way. */
function withOwnInstance({ settings: given, sources }: Call, role: Role): Settings {
  const settings = { ...given, ...role.settings }
  if (sources.instance.level !== 'default') return settings
  if (settings.ephemeral) return { ...settings, instance: `ephemeral-${process.pid}` }
  return { ...settings, instance: role.instance ?? settings.instance }
}

function createNodeLogger(call: Call, levels: LogLevels, tail: LogTail) {
  const { settings, surroundings, isErrorTerminal } = call
  const { logFormat, debug } = settings
  const automatic = isErrorTerminal ? 'human' : 'json'
  const format = logFormat === 'auto' ? automatic : logFormat
  const color = isErrorTerminal && (surroundings.environment['NO_COLOR'] ?? '') === ''
  return createLogger(
    { format, levels, color, debug },
    { clock: systemClock, write: (line) => void process.stderr.write(line), tail },
  )
}
