/** Turns the options of a program into settings of a node, by the same rules that flags pass. */
import { type Issue, MeshError } from '@mesh/core'
import { flagOf, optionsOf } from '../settings/options.ts'
import { type Given, resolveSettings } from '../settings/resolve-settings.ts'
import type { ResolvedSettings } from '../settings/resolved-settings.ts'
import type { JoinMeshInit, SettingValue } from './join-init.ts'

/** A node without an interface and without a port for its API. */
export const EMBEDDED_COMMAND = 'start'
const HINT =
  'The README of @mesh/node has every option; `settings` takes the flags of `mesh start` (`mesh help start`).'
/** Tells apart the nodes of one process that keep nothing. */
let ephemeralNodes = 0

/**
 * @param base the folder that relative paths count from
 * @throws MeshError `node.bad_input`, `node.network_twice`
 */
export function embeddedSettings(init: JoinMeshInit, base: string): ResolvedSettings {
  const { settings = {}, bootstrapPeers } = init
  const given = [
    ...givenAs('token', 'token', init.token),
    ...givenAs('tokenFile', 'token-file', init.tokenFile),
    ...givenAs('invite', 'invite', init.invite),
    ...givenAs('name', 'name', init.name),
    ...givenAs('stateDir', 'state-dir', init.stateDir),
    ...givenAs('ephemeral', 'ephemeral', init.ephemeral),
    ...givenAs('private', 'private', init.private),
    ...givenAs('bootstrapPeers', 'discovery-bootstrap-peers', bootstrapPeers),
    ...Object.entries(settings).flatMap(([flag, value]) => givenAs(`settings.${flag}`, flag, value)),
  ]
  try {
    return withInstance(resolveSettings(EMBEDDED_COMMAND, given, base))
  } catch (error) {
    if (!(error instanceof MeshError)) throw error
    const { code, message, issues } = error
    const hint = code === 'node.network_twice' ? 'Give `token` or `tokenFile`, not both.' : HINT
    throw new MeshError(code, message, { issues, hint })
  }
}

/** @throws MeshError `node.bad_input` for a flag that `mesh start` does not take */
function givenAs(place: string, flag: string, value: SettingValue | undefined): readonly Given[] {
  if (value === undefined) return []
  const name = optionsOf(EMBEDDED_COMMAND).find((option) => flagOf(option) === flag)
  if (name === undefined)
    throw badOption({ field: place, expected: 'a flag of `mesh start`, without dashes ahead' })
  const texts = Array.isArray(value) ? value : [String(value)]
  return texts.length === 0 ? [] : [{ name, texts, level: 'flag', place }]
}

function badOption(issue: Issue): MeshError {
  return new MeshError('node.bad_input', `${issue.field}: expected ${issue.expected}`, { hint: HINT })
}

/** Nodes of different names, and nodes that keep nothing, do not stand in each other's way. */
function withInstance(resolved: ResolvedSettings): ResolvedSettings {
  const { settings, sources } = resolved
  if (sources.instance.level !== 'default') return resolved
  const instance = settings.ephemeral
    ? `ephemeral-${process.pid}-${++ephemeralNodes}`
    : (settings.name ?? 'program').slice(0, MAX_INSTANCE_LENGTH)
  return { settings: { ...settings, instance }, sources }
}

const MAX_INSTANCE_LENGTH = 40
