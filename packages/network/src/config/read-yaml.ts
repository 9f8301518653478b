/** Reads the YAML of a network configuration: scalars as raw text first, then each field by its own rule. */
import { type Issue, type PeerId, tryParsePeerId } from '@mesh/core'
import { FAILSAFE_SCHEMA, load, realMapTag, YAMLException } from 'js-yaml'
import {
  MAX_ADMINISTRATORS,
  DEFAULT_CRYPTO_OTP_LENGTH,
  DEFAULT_DHT_OTP_LENGTH,
  MAX_CONFIG_BYTES,
  MAX_CONFIG_TEXT_LENGTH,
  MAX_MAX_MESSAGE_BYTES,
  MAX_OTP_INTERVAL_S,
  MAX_OTP_LENGTH,
  MIN_MAX_MESSAGE_BYTES,
} from '../limits.ts'
import type { NetworkConfig, OtpConfig } from './network-config.ts'

/** A schema without numbers, dates and booleans: a key that looks like one of these stays as it was written. */
const RAW_TEXTS = FAILSAFE_SCHEMA.withTags(realMapTag)

type Read =
  | { readonly config: NetworkConfig; readonly issues?: undefined }
  | { readonly config?: undefined; readonly issues: readonly Issue[] }

/** Gives either a configuration or at least one issue. */
export function readYaml(yaml: string): Read {
  const issues: Issue[] = []
  const root = parseMapping(yaml, issues)
  if (root === undefined) return { issues }

  const fields = createFieldReader(root, issues)
  const config: NetworkConfig = {
    dht: readDht(fields),
    crypto: readCrypto(fields),
    room: fields.secret('room'),
    rendezvous: fields.text('rendezvous'),
    mdns: fields.text('mdns'),
    maxMessageBytes: fields.integer('max_message_size', {
      min: MIN_MAX_MESSAGE_BYTES,
      max: MAX_MAX_MESSAGE_BYTES,
      unit: 'bytes',
    }),
  }
  const administrators = fields.peerIds('administrators', MAX_ADMINISTRATORS)
  if (issues.length > 0) return { issues }
  return { config: administrators.length === 0 ? config : { ...config, administrators } }
}

function readCrypto(fields: FieldReader): OtpConfig {
  if (!fields.has('otp.crypto')) {
    fields.refuse('otp.crypto', undefined, 'a mapping with interval, key and length: it makes the seal key')
    return { key: '', intervalS: 1n, length: 1 }
  }
  return readOtp(fields, 'otp.crypto', DEFAULT_CRYPTO_OTP_LENGTH)
}

/** Gives undefined without a key: the network has a static rendezvous then, and the other two fields mean nothing. */
function readDht(fields: FieldReader): OtpConfig | undefined {
  if (!fields.has('otp.dht') || fields.text('otp.dht.key') === '') return undefined
  return readOtp(fields, 'otp.dht', DEFAULT_DHT_OTP_LENGTH)
}

function readOtp(fields: FieldReader, path: string, defaultLength: number): OtpConfig {
  const length = fields.integer(`${path}.length`, { min: 0, max: MAX_OTP_LENGTH, default: 0 })
  return {
    key: fields.secret(`${path}.key`),
    intervalS: fields.bigInteger(`${path}.interval`, { min: 1n, max: MAX_OTP_INTERVAL_S, unit: 'seconds' }),
    length: length === 0 ? defaultLength : length,
  }
}

interface IntegerRule<Value extends number | bigint> {
  readonly min: Value
  readonly max: Value
  readonly unit?: string
  /** The value of an absent field; a field without a default must be there. */
  readonly default?: Value
}

interface FieldReader {
  has(path: string): boolean
  /** Gives the field's text, which is empty when the field is absent. */
  text(path: string): string
  /** Gives a text that must be there and not empty; its value never shows in an issue. */
  secret(path: string): string
  integer(path: string, rule: IntegerRule<number>): number
  bigInteger(path: string, rule: IntegerRule<bigint>): bigint
  /** Gives a list of peer ids, which is empty when the field is absent. */
  peerIds(path: string, most: number): readonly PeerId[]
  refuse(field: string, value: string | undefined, expected: string): void
}

function createFieldReader(root: ReadonlyMap<unknown, unknown>, issues: Issue[]): FieldReader {
  const find = (path: string): unknown => {
    let found: unknown = root
    for (const key of path.split('.')) {
      if (!(found instanceof Map)) return undefined
      found = found.get(key)
    }
    return found
  }
  const refuse = (field: string, value: string | undefined, expected: string) => {
    if (issues.some((issue) => issue.field === field)) return
    issues.push({ field, ...(value === undefined ? {} : { value }), expected })
  }
  const text = (path: string): string => {
    const value = find(path)
    if (value === undefined) return ''
    if (typeof value !== 'string') refuse(path, '(a list or mapping)', 'a text')
    else if (value.length > MAX_CONFIG_TEXT_LENGTH) {
      refuse(path, `(hidden, ${value.length} characters)`, `at most ${MAX_CONFIG_TEXT_LENGTH} characters`)
    } else return value
    return ''
  }
  const bigInteger = (path: string, rule: IntegerRule<bigint>): bigint => {
    const value = find(path)
    if (value === undefined && rule.default !== undefined) return rule.default
    // legacy nodes read digits behind a 0 as an octal number
    const isNumber = typeof value === 'string' && /^(0|[1-9]\d{0,18})$/.test(value)
    const number = isNumber ? BigInt(value) : undefined
    if (number !== undefined && number >= rule.min && number <= rule.max) return number
    const unit = rule.unit === undefined ? '' : ` ${rule.unit}`
    const expected = `a whole number from ${rule.min} to ${rule.max}${unit}`
    refuse(path, typeof value === 'string' ? value.slice(0, 20) : undefined, expected)
    return rule.min
  }
  return {
    refuse,
    text,
    has: (path) => {
      const value = find(path)
      // `dht:` with nothing behind it is an absent mapping
      if (value === undefined || value === '') return false
      if (!(value instanceof Map)) refuse(path, '(no mapping)', 'a mapping with interval, key and length')
      return value instanceof Map
    },
    secret: (path) => {
      const value = text(path)
      if (value === '') refuse(path, undefined, 'a secret text (43 random characters when generated)')
      return value
    },
    peerIds: (path, most) => {
      const value = find(path)
      if (value === undefined || value === '') return []
      const list: readonly unknown[] = Array.isArray(value) ? value : []
      const ids = list.flatMap((each) => (typeof each === 'string' ? (tryParsePeerId(each) ?? []) : []))
      if (Array.isArray(value) && ids.length === list.length && ids.length <= most) return ids
      refuse(path, undefined, `a list of at most ${most} peer ids, as \`mesh admin init\` writes it`)
      return []
    },
    bigInteger,
    integer: (path, { min, max, default: absent, ...rule }) => {
      const most = { ...rule, min: BigInt(min), max: BigInt(max) }
      return Number(bigInteger(path, absent === undefined ? most : { ...most, default: BigInt(absent) }))
    },
  }
}

function parseMapping(yaml: string, issues: Issue[]): ReadonlyMap<unknown, unknown> | undefined {
  if (yaml.length > MAX_CONFIG_BYTES) {
    issues.push({
      field: 'configuration',
      value: `(${yaml.length} characters)`,
      expected: `at most ${MAX_CONFIG_BYTES} bytes of YAML`,
    })
    return undefined
  }
  try {
    const value = load(yaml, { schema: RAW_TEXTS, maxAliases: 10 })
    if (value instanceof Map) return value
  } catch (error) {
    // the parser's reason may quote the text, and so a secret
    const line = error instanceof YAMLException ? error.mark?.line : undefined
    const where = line === undefined ? {} : { value: `(line ${line + 1})` }
    issues.push({ field: 'configuration', ...where, expected: 'valid YAML' })
    return undefined
  }
  issues.push({ field: 'configuration', expected: 'a YAML mapping with otp, room and max_message_size' })
  return undefined
}
