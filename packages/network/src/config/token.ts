/** The network's configuration as one line of text: base64 of its YAML (docs/WIRE.md 1). */
import { MeshError } from '@mesh/core'
import { base64pad } from 'multiformats/bases/base64'
import { formatNetworkConfig } from './config-file.ts'
import type { NetworkConfig } from './network-config.ts'
import { readYaml } from './read-yaml.ts'

/** Writes the token that whoever joins the network is given; it holds all of its secrets. */
export function encodeToken(config: NetworkConfig): string {
  return base64pad.baseEncode(new TextEncoder().encode(formatNetworkConfig(config)))
}

/**
 * Reads a token; line breaks in it are ignored.
 *
 * @throws MeshError `network.bad_token` with one issue for each field that is wrong; no issue shows a secret
 */
export function parseToken(token: string): NetworkConfig {
  const yaml = decodeToken(token.replaceAll(/[\r\n]/g, ''))
  const read = readYaml(yaml)
  if (read.config !== undefined) return read.config
  throw new MeshError('network.bad_token', 'the token holds a network configuration that cannot be used', {
    issues: read.issues,
    hint: 'Copy the token again, whole, or make a new one with `mesh -g -b`.',
  })
}

function decodeToken(token: string): string {
  const refuse = (expected: string): MeshError =>
    new MeshError('network.bad_token', 'the token cannot be read', {
      issues: [{ field: 'token', value: `(hidden, ${token.length} characters)`, expected }],
      hint: 'Copy the token again, whole, or make a new one with `mesh -g -b`.',
    })
  if (token === '') throw refuse('the base64 text that `mesh -g -b` prints')
  if (/[-_]/.test(token)) throw refuse('base64 in the standard alphabet: + and / instead of - and _')
  if (/[^A-Za-z0-9+/=]/.test(token)) throw refuse('base64 only: no spaces, quotes or other characters')
  if (token.length % 4 !== 0 || !/^[^=]+={0,2}$/.test(token)) {
    throw refuse('base64 with its padding: a multiple of 4 characters (is the end missing?)')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(base64pad.baseDecode(token))
  } catch {
    throw refuse('base64 of a YAML text in UTF-8')
  }
}
