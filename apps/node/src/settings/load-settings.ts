/** Reads flags, environment and the file of defaults of one call. The only reader of the environment. */
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { MeshError } from '@mesh/core'
import { readNamedFile } from '../files/read-named-file.ts'
import { type GivenArguments, readDefaults, readEnvironment } from './given.ts'
import type { Settings } from './options.ts'
import { resolveSettings } from './resolve-settings.ts'
import type { ResolvedSettings } from './resolved-settings.ts'

/** The longest file of defaults that is read: one that names every flag has less than 8 KiB. */
const MAX_DEFAULTS_BYTES = 1024 * 1024

export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
}

export interface LoadedSettings extends ResolvedSettings {
  readonly positionals: GivenArguments['positionals']
  /** The flags of this call in their order, for those whose place matters. */
  readonly flags: GivenArguments['given']
  /** The folder that relative paths count from. */
  readonly base: string
}

/** @throws MeshError `node.bad_input`, `node.network_twice`, `node.unreadable` */
export function loadSettings(
  command: string,
  args: GivenArguments,
  surroundings: Surroundings,
): LoadedSettings {
  const base = standingPlace(surroundings)
  const fromEnvironment = readEnvironment(surroundings.environment)
  const asked = [...args.given, ...fromEnvironment].find(({ name }) => name === 'defaults')?.texts.at(-1)
  const given = [
    ...args.given,
    ...fromEnvironment,
    ...readDefaultsFile(asked, base, surroundings.environment),
  ]
  return { ...resolveSettings(command, given, base), positionals: args.positionals, flags: args.given, base }
}

/**
 * The folder where the person stands: package managers run scripts in the package's folder and leave the
 * person's in INIT_CWD. It counts only there, since shells started by such scripts inherit the variable.
 */
function standingPlace({ environment, workingDirectory }: Surroundings): string {
  const { INIT_CWD: standing, npm_package_json: manifest } = environment
  const isScript = manifest !== undefined && dirname(manifest) === workingDirectory
  return isScript && standing !== undefined && isAbsolute(standing) ? standing : workingDirectory
}

function readDefaultsFile(asked: string | undefined, base: string, environment: Surroundings['environment']) {
  const file = asked === undefined ? defaultsFile(environment) : resolve(base, asked)
  let content: string
  try {
    content = readNamedFile(file, MAX_DEFAULTS_BYTES).text
  } catch (cause) {
    if (asked === undefined && ['ENOENT', 'ENOTDIR'].includes((cause as NodeJS.ErrnoException).code ?? ''))
      return []
    throw new MeshError('node.unreadable', `cannot read the file of defaults ${file}`, { cause })
  }
  return readDefaults(file, content)
}

/** The file of defaults that is read where it exists and no other is named. */
export function defaultsFile(environment: Surroundings['environment']): string {
  return join(xdgFolder(environment, 'CONFIG', '.config'), 'mesh', 'defaults')
}

/** `$XDG_STATE_HOME` and its like; a relative value counts as unset, as the standard says. */
function xdgFolder(
  environment: Surroundings['environment'],
  kind: 'CONFIG' | 'STATE' | 'CACHE',
  fallback: string,
): string {
  const value = environment[`XDG_${kind}_HOME`]
  if (value !== undefined && isAbsolute(value)) return value
  return join(environment['HOME'] ?? homeOfUser(), fallback)
}

/** Whom a service manager makes up for a service has no folder, and asking for it throws: `/`, as systemd has it. */
function homeOfUser(): string {
  try {
    return homedir()
  } catch {
    return '/'
  }
}

/** The folder that holds every network's state. */
export function stateFolder(settings: Settings, { environment }: Surroundings): string {
  return settings.stateDir ?? join(xdgFolder(environment, 'STATE', '.local/state'), 'mesh')
}
