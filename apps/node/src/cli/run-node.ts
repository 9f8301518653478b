/** `mesh api` and `mesh start`: one node, from the settings to a clean end. */
import { systemClock, systemRandom } from '@mesh/core'
import { createLogger } from '../log/create-logger.ts'
import { startNode } from '../node/create-node.ts'
import { settle } from '../node/settle.ts'
import { findListenPlace } from '../settings/listen-place.ts'
import { stateFolder } from '../settings/load-settings.ts'
import type { Settings } from '../settings/options.ts'
import { requireNetwork } from '../state/network.ts'
import type { Call, Run } from './command.ts'
import { runUntilSignal } from './run-until-signal.ts'

export const runApi: Run = (call) => runNode(call, true)
export const runStart: Run = (call) => runNode(call, false)

async function runNode(call: Call, isApi: boolean): Promise<number> {
  const { command, base, surroundings } = call
  const settings = withOwnInstance(call)
  const network = requireNetwork(settings, command.name, callOf(surroundings.environment))
  const log = createNodeLogger(call)
  const { environment } = surroundings
  const listen = isApi
    ? findListenPlace({ listen: settings.listen, base, environment, pid: process.pid }, log)
    : undefined
  const init = { settings, network, listen, stateDir: stateFolder(settings, surroundings) }
  const components = { clock: systemClock, random: systemRandom, log, uptimeMs: () => performance.now() }
  const onListening = (url: string | undefined) => {
    if (url !== undefined) call.out(`API and web page: ${url}\n`)
  }
  const code = await runUntilSignal(log, async (signal) => {
    const node = await startNode(init, components, { signal, onListening })
    settle()
    return node
  })
  // nothing may keep the process that the node has left behind
  process.exit(code)
}

/** How the person calls `mesh`: in a checkout by its package manager. */
function callOf({ npm_lifecycle_event: script }: Readonly<Record<string, string | undefined>>): string {
  return script === undefined ? 'mesh' : 'pnpm --filter node start'
}

/** Nodes that keep nothing do not stand in each other's way. */
function withOwnInstance({ settings, sources }: Call): Settings {
  const isNamed = sources.instance.level !== 'default'
  return settings.ephemeral && !isNamed ? { ...settings, instance: `ephemeral-${process.pid}` } : settings
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
