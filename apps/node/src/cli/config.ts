/** `mesh config`: what is in force, and where each value came from. */
import { shownValue } from '../settings/mask.ts'
import { flagOf, optionsOf, optionOf } from '../settings/options.ts'
import { stateFolder } from '../settings/load-settings.ts'
import { instancePath } from '../state/instance-folder.ts'
import { readNetwork } from '../state/network.ts'
import type { Run } from './command.ts'
import { formatTable } from './format-table.ts'

/** Options of `mesh config` itself. */
const OWN_OPTIONS = new Set(['json'])

export const runConfig: Run = async ({ command, settings, sources, surroundings, out }) => {
  const rows = optionsOf(command.name)
    .filter((name) => !OWN_OPTIONS.has(name))
    .map((name) => ({
      name: flagOf(name),
      value: settings[name],
      shown: shownValue(name, settings[name]),
      secret: optionOf(name).secret === true,
      source: sources[name],
    }))
  const network = readNetwork(settings)
  const { instance } = settings
  const stateDir = stateFolder(settings, surroundings)
  const folder =
    network === undefined ? undefined : instancePath({ stateDir, networkId: network.id, instance })
  if (settings.json) {
    const options = rows.map(({ name, value, shown, secret, source }) => ({
      name,
      value: secret && value !== undefined ? shown : (value ?? null),
      source: source.level,
      place: source.place === '' ? null : source.place,
    }))
    out(
      `${JSON.stringify({ network: network?.id ?? null, folder: folder ?? null, options }, undefined, 2)}\n`,
    )
    return 0
  }
  out(`network  ${network?.id ?? 'none is named'}\n`)
  if (folder !== undefined) out(`folder   ${folder}\n`)
  const table = rows.map(({ name, shown, source }) => [
    `--${name}`,
    shown,
    source.level === 'default' ? 'built in' : source.place,
  ])
  out(`\n${formatTable(['OPTION', 'VALUE', 'FROM'], table)}`)
  return 0
}
