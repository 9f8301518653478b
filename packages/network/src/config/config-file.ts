/** The network's configuration as a YAML file, written as EdgeVPN-compatible nodes write it (docs/WIRE.md 1). */
import { MeshError } from '@mesh/core'
import type { NetworkConfig, OtpConfig } from './network-config.ts'
import { readYaml } from './read-yaml.ts'

/**
 * Reads a configuration file strictly.
 *
 * @throws MeshError `network.bad_config` with one issue for each field that is wrong
 */
export function parseNetworkConfig(yaml: string): NetworkConfig {
  const read = readYaml(yaml)
  if (read.config !== undefined) return read.config
  throw new MeshError('network.bad_config', 'the network configuration cannot be used', {
    issues: read.issues,
    hint: 'Make a new one with `mesh -g`, or copy it whole from a node that runs.',
  })
}

/** Writes the YAML file; the keys stand in the order in which legacy nodes write them. */
export function formatNetworkConfig(config: NetworkConfig): string {
  const { dht = { key: '', intervalS: 0n, length: 0 }, crypto, administrators = [] } = config
  const named = administrators.map((each) => `  - ${each}\n`).join('')
  const otp = (name: string, { intervalS, key, length }: OtpConfig) =>
    `  ${name}:\n    interval: ${intervalS}\n    key: ${formatText(key)}\n    length: ${length}\n`
  return (
    `otp:\n${otp('dht', dht)}${otp('crypto', crypto)}` +
    `room: ${formatText(config.room)}\nrendezvous: ${formatText(config.rendezvous)}\n` +
    `mdns: ${formatText(config.mdns)}\nmax_message_size: ${config.maxMessageBytes}\n` +
    (named === '' ? '' : `administrators:\n${named}`)
  )
}

/** Leaves a text without quotes when no YAML reader could take it for a number, date or boolean. */
function formatText(text: string): string {
  const plain = /^[A-Za-z][A-Za-z0-9_-]*$/.test(text) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(text)
  // 43 characters that begin with a digit: letters further on keep YAML from reading a number
  const generated = /^[0-9][A-Za-z0-9]{15,}$/.test(text) && /[g-wyzG-WYZ]/.test(text)
  return plain || generated ? text : JSON.stringify(text)
}
