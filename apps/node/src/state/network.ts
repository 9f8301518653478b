/** Reads the network that the settings name. */
import { MeshError } from '@mesh/core'
import { type NetworkConfig, networkId, parseNetworkConfig, parseToken } from '@mesh/network'
import { shellWord } from '../words/shell-word.ts'
import type { Settings } from '../settings/options.ts'
import { describeExposedFile } from '../files/exposed-file.ts'
import { linkTarget } from '../files/file-owners.ts'
import { readNamedFile } from '../files/read-named-file.ts'

export interface Network {
  /** 20 hex digits; tells nothing of the secrets. */
  readonly id: string
  readonly config: NetworkConfig
}

/** The longest file that is read: a configuration has about 400 bytes and at most 64 KiB, its token a third more. */
const MAX_FILE_BYTES = 128 * 1024

/**
 * Undefined when no network is named.
 * @throws MeshError `node.unreadable`, `network.bad_config`, `network.bad_token`
 */
export function readNetwork(settings: Settings): Network | undefined {
  const config = readConfig(settings)
  return config === undefined ? undefined : { id: networkId(config), config }
}

/** A warning for people when other users of this machine can read or change the file of `--token-file` or `--config`. */
export function describeExposedNetwork({ tokenFile, config }: Settings): string | undefined {
  const file = tokenFile ?? config
  return file === undefined ? undefined : describeExposedFile(file)
}

/** The variables that name a network for EdgeVPN. */
const EDGEVPN_VARIABLES = ['EDGEVPNTOKEN', 'EDGEVPNCONFIG']

/** @throws MeshError as `readNetwork`, and `node.no_network`, saying how to make one */
export function requireNetwork(
  settings: Settings,
  command: string,
  environment: Readonly<Record<string, string | undefined>>,
): Network {
  const network = readNetwork(settings)
  if (network !== undefined) return network
  const call = command === '' ? 'mesh' : `mesh ${command}`
  throw new MeshError('node.no_network', `\`${call}\` needs to know which network to join`, {
    hint: [
      'Give a token (--token-file FILE, MESHTOKEN) or a configuration file (--config FILE, MESHCONFIG).',
      `  To make a new network:  mesh -g -b > mesh.token && chmod 600 mesh.token`,
      `  Then, on every machine: ${call} --token-file mesh.token`,
      ...EDGEVPN_VARIABLES.filter((name) => (environment[name] ?? '') !== '').map(
        (name) => `  ${name} is set: \`${call} --edgevpn\` takes the flags and variables of EdgeVPN.`,
      ),
    ].join('\n'),
  })
}

function readConfig({ config, token, tokenFile }: Settings): NetworkConfig | undefined {
  if (token !== undefined) return parseToken(token)
  if (tokenFile !== undefined) return parseToken(readText(tokenFile, '--token-file').trim())
  return config === undefined ? undefined : parseNetworkConfig(readText(config, '--config'))
}

function readText(file: string, flag: string): string {
  try {
    const target = linkTarget(file)
    if (target !== undefined) throw isLink(file, flag, target)
    return readNamedFile(file, MAX_FILE_BYTES).text
  } catch (cause) {
    if (cause instanceof MeshError) throw cause
    throw new MeshError('node.unreadable', `cannot read ${file} (${flag})`, { cause })
  }
}

function isLink(file: string, flag: string, target: string): MeshError {
  return new MeshError('node.unreadable', `${file} (${flag}) is a symbolic link, which is not followed`, {
    hint: `Who may change it could let it lead to another network: name the file itself, ${flag} ${shellWord(target)}.`,
  })
}
