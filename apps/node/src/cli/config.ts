/** `mesh config`: what is in force, where each value came from, and for a default why it is what it is. */
import { settingsInForce } from '../settings/settings-in-force.ts'
import { flagOf, type Settings } from '../settings/options.ts'
import { stateFolder } from '../settings/load-settings.ts'
import { instancePath } from '../state/instance-folder.ts'
import { readNetwork } from '../state/network.ts'
import type { Call, Run } from './command.ts'
import { formatTable } from './format-table.ts'

/** Options of `mesh config` itself. */
const OWN_OPTIONS = new Set(['json'])

export const runConfig: Run = async (call) => {
  const { command, out } = call
  const settings = withOwnInstance(call)
  const network = readNetwork(settings)
  const stateDir = stateFolder(settings, call.surroundings)
  const folder =
    network === undefined
      ? undefined
      : instancePath({ stateDir, networkId: network.id, instance: settings.instance })
  const rows = settingsInForce({ ...call, settings, command: command.name, stateDir, folder }).filter(
    ({ option }) => !OWN_OPTIONS.has(option),
  )
  if (settings.json) {
    const options = rows.map(({ option, json, level, place }) => ({
      name: flagOf(option),
      value: json,
      source: level,
      place,
    }))
    out(
      `${JSON.stringify({ network: network?.id ?? null, folder: folder ?? null, options }, undefined, 2)}\n`,
    )
    return 0
  }
  out(`network  ${network?.id ?? 'none is named'}\n`)
  if (folder !== undefined) out(`folder   ${folder}\n`)
  const table = rows.map(({ option, value, instead, level, place, condition }) => [
    `--${flagOf(option)}`,
    value ?? (instead || 'none'),
    [...(level === 'default' ? ['built in'] : []), place ?? '', condition]
      .filter((part) => part !== '')
      .join('; '),
  ])
  out(`\n${formatTable(['OPTION', 'VALUE', 'FROM'], table)}`)
  return 0
}

/** A node that keeps nothing has an instance for its process. */
function withOwnInstance({ settings, sources }: Call): Settings {
  const isOwn = settings.ephemeral && sources.instance.level === 'default'
  return isOwn ? { ...settings, instance: 'ephemeral-PID' } : settings
}
