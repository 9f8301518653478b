/**
 * What makes a network: the secrets that its members share, as a YAML file or as one token (wire document,
 * section 1). Read strictly, with every problem named; written as existing nodes write it.
 */
import { MeshError, type Random } from '@mesh/core'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { base64pad } from 'multiformats/bases/base64'
import { DEFAULT_MAX_MESSAGE_BYTES, DEFAULT_OTP_INTERVAL_S, GENERATED_TEXT_LENGTH } from './limits.ts'
import { readNetworkConfig } from './network-config-yaml.ts'
import { framed } from './secrets/framed.ts'

/** How one rotating secret is made: HMAC of the time window's number, cut to `length` characters. */
export interface OtpConfig {
  readonly key: string
  /** Seconds that one window lasts. */
  readonly intervalS: number
  /** Characters kept, 1 to 44. */
  readonly length: number
}

/** The secrets and settings that all members of a network share. */
export interface NetworkConfig {
  /** Rotating DHT rendezvous; undefined when the network has a static one, or none. */
  readonly dht: OtpConfig | undefined
  /** Seal key; its interval and length serve the gossip topic too. */
  readonly crypto: OtpConfig
  /** Secret that names the gossip topic. */
  readonly room: string
  /** Static DHT rendezvous, in use without `dht`; may be empty. */
  readonly rendezvous: string
  /** mDNS service name, a single label; may be empty. */
  readonly mdns: string
  /** Longest gossip message in bytes. */
  readonly maxMessageBytes: number
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890'
const LARGEST_FAIR_BYTE = 256 - (256 % ALPHABET.length)

/** @throws MeshError `network.bad_config` with one issue for each field that is wrong */
export function parseNetworkConfig(yaml: string): NetworkConfig {
  const read = readNetworkConfig(yaml)
  if (read.config !== undefined) return read.config
  throw new MeshError('network.bad_config', 'the network configuration cannot be used', {
    issues: read.issues,
    hint: 'Make a new one with `mesh -g`, or copy it whole from a node that runs.',
  })
}

/** @throws MeshError `network.bad_token` with what is wrong; no issue shows a secret */
export function parseToken(token: string): NetworkConfig {
  const yaml = decodeToken(token.replaceAll(/[\r\n]/g, ''))
  const read = readNetworkConfig(yaml)
  if (read.config !== undefined) return read.config
  throw new MeshError('network.bad_token', 'the token holds a network configuration that cannot be used', {
    issues: read.issues,
    hint: 'Copy the token again, whole, or make a new one with `mesh -g -b`.',
  })
}

/** A new network: keys from `random`, every character equally likely. */
export function generateNetworkConfig(
  options: { readonly intervalS?: number },
  random: Random,
): NetworkConfig {
  const { intervalS = DEFAULT_OTP_INTERVAL_S } = options
  const otp = () => ({ key: generateText(random), intervalS, length: GENERATED_TEXT_LENGTH })
  return {
    dht: otp(),
    crypto: otp(),
    room: generateText(random),
    rendezvous: generateText(random),
    mdns: generateText(random),
    maxMessageBytes: DEFAULT_MAX_MESSAGE_BYTES,
  }
}

/** The YAML file, with the keys in the order in which existing nodes write them. */
export function formatNetworkConfig(config: NetworkConfig): string {
  const { dht = { key: '', intervalS: 0, length: 0 }, crypto } = config
  const otp = (name: string, { intervalS, key, length }: OtpConfig) =>
    `  ${name}:\n    interval: ${intervalS}\n    key: ${formatText(key)}\n    length: ${length}\n`
  return (
    `otp:\n${otp('dht', dht)}${otp('crypto', crypto)}` +
    `room: ${formatText(config.room)}\nrendezvous: ${formatText(config.rendezvous)}\n` +
    `mdns: ${formatText(config.mdns)}\nmax_message_size: ${config.maxMessageBytes}\n`
  )
}

/** The configuration as one line: base64 of its YAML. */
export function encodeToken(config: NetworkConfig): string {
  return base64pad.baseEncode(new TextEncoder().encode(formatNetworkConfig(config)))
}

/** Names the network without telling its secrets: 20 hex digits; for folders and logs. */
export function networkId(config: NetworkConfig): string {
  return bytesToHex(sha256(framed(config.crypto.key, config.room))).slice(0, 20)
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

function generateText(random: Random): string {
  let text = ''
  while (text.length < GENERATED_TEXT_LENGTH) {
    for (const byte of random.bytes(GENERATED_TEXT_LENGTH)) {
      if (byte < LARGEST_FAIR_BYTE && text.length < GENERATED_TEXT_LENGTH) {
        text += ALPHABET[byte % ALPHABET.length]
      }
    }
  }
  // text that YAML would take for a number or a date is drawn again, so that it needs no quotes
  return /^[a-zA-Z]/.test(text) ? text : generateText(random)
}

/** Plain when no reader could take it for anything but this text, else in double quotes. */
function formatText(text: string): string {
  const plain = /^[A-Za-z][A-Za-z0-9_-]*$/.test(text) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(text)
  // 43 characters that begin with a digit: letters further on keep YAML from reading a number
  const generated = /^[0-9][A-Za-z0-9]{15,}$/.test(text) && /[g-wyzG-WYZ]/.test(text)
  return plain || generated ? text : JSON.stringify(text)
}
