import { readFileSync } from 'node:fs'
import { MeshError, systemRandom } from '@mesh/core'
import { createSeededRandom } from '@mesh/testkit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatNetworkConfig, parseNetworkConfig } from './config-file.ts'
import { generateNetworkConfig } from './generate-network.ts'
import { networkId } from './network-config.ts'
import { encodeToken, parseToken } from './token.ts'

const { configs, recorded } = JSON.parse(
  readFileSync(new URL('../../test/vectors/network.json', import.meta.url), 'utf8'),
) as {
  configs: Record<string, { yaml: string; token: string; config: Record<string, unknown> }>
  recorded: { yaml: string; token: string }
}
const longIntervals = JSON.parse(
  readFileSync(new URL('../../test/vectors/long-intervals.json', import.meta.url), 'utf8'),
) as { configs: { yaml: string; token: string }[] }
const { yaml: YAML, token: TOKEN } = configs.default43 ?? { yaml: '', token: '' }

/** The error's code, and each issue as `field: expected`. */
function refusal(run: () => unknown): { code: string; issues: string[]; text: string } {
  try {
    run()
  } catch (error) {
    if (!(error instanceof MeshError)) throw error
    return {
      code: error.code,
      issues: error.issues.map(({ field, expected }) => `${field}: ${expected}`),
      text: JSON.stringify(error.issues),
    }
  }
  throw new Error('was accepted')
}

test.each([...Object.values(configs), recorded, ...longIntervals.configs])(
  'a configuration of legacy nodes is read and written byte for byte',
  ({ yaml, token }) => {
    expect(formatNetworkConfig(parseNetworkConfig(yaml))).toBe(yaml)
    expect(encodeToken(parseToken(token))).toBe(token)
    expect(parseToken(token)).toEqual(parseNetworkConfig(yaml))
  },
)

test('a text that looks like a number stays as it is written', () => {
  const yaml = YAML.replace(/^room: .*$/m, 'room: 0123456789')
    .replace(/^mdns: .*$/m, 'mdns: 1e5')
    .replace(/^rendezvous: .*$/m, 'rendezvous: true')
  const config = parseNetworkConfig(yaml)
  expect(config).toMatchObject({ room: '0123456789', mdns: '1e5', rendezvous: 'true' })
  expect(parseNetworkConfig(formatNetworkConfig(config))).toEqual(config)
})

test('only otp.dht may be missing, and unknown keys do no harm', () => {
  const yaml = `${YAML.replace(/ {2}dht:\n( {4}.*\n){3}/, '')}future: [1, 2]\n`
  const config = parseNetworkConfig(yaml)
  expect(config.dht).toBeUndefined()
  expect(parseNetworkConfig(formatNetworkConfig(config))).toEqual(config)
})

test('a length that is missing or 0 means the default of legacy nodes', () => {
  const config = parseNetworkConfig(YAML.replaceAll('length: 43', 'length: 0'))
  expect([config.crypto.length, config.dht?.length]).toEqual([6, 12])
  expect(parseNetworkConfig(YAML.replaceAll(/ {4}length: 43\n/g, '')).crypto.length).toBe(6)
})

describe('what would crash or silence legacy nodes is refused by field', () => {
  const edit = (pattern: RegExp, text: string) => () => parseNetworkConfig(YAML.replace(pattern, text))
  test.each([
    ['otp.crypto.interval', edit(/(crypto:\n.*interval:) 360/, '$1 0')],
    ['otp.dht.interval', edit(/(dht:\n.*interval:) 360/, '$1 0')],
    ['otp.crypto.interval', edit(/(crypto:\n.*interval:) 360/, '$1 -5')],
    ['otp.crypto.interval', edit(/(crypto:\n.*interval:) 360/, '$1 6.5')],
    ['otp.crypto.interval', edit(/(crypto:\n.*interval:) 360/, '$1 9223372036854775808')],
    ['otp.crypto.interval', edit(/(crypto:\n.*interval:) 360/, '$1 0360')],
    ['otp.crypto.length', edit(/(crypto:\n(.*\n){2}.*length:) 43/, '$1 45')],
    ['otp.dht.length', edit(/(dht:\n(.*\n){2}.*length:) 43/, '$1 45')],
    ['max_message_size', edit(/max_message_size: .*\n/, '')],
    ['max_message_size', edit(/max_message_size: .*\n/, 'max_message_size: 0\n')],
    ['max_message_size', edit(/max_message_size: .*\n/, 'max_message_size: 99999999999\n')],
    ['otp.crypto', edit(/ {2}crypto:\n( {4}.*\n){3}/, '')],
    ['otp.crypto', edit(/otp:\n( {2}.*\n)+/, '')],
    ['otp.crypto.key', edit(/(crypto:\n.*\n) +key.*\n/, '$1')],
    ['room', edit(/room: .*\n/, 'room: ""\n')],
    ['room', edit(/room: .*\n/, 'room: [a]\n')],
    ['room', edit(/room: .*\n/, `room: ${'r'.repeat(2000)}\n`)],
    ['configuration', () => parseNetworkConfig('{')],
    ['configuration', () => parseNetworkConfig('')],
    ['configuration', () => parseNetworkConfig('just text')],
    ['configuration', () => parseNetworkConfig('#'.repeat(100_000))],
    ['configuration', () => parseNetworkConfig(`a: &a [x]\nb: [${'*a,'.repeat(5000)}]`)],
  ])('%s', (field, run) => {
    const { code, issues } = refusal(run)
    expect(code).toBe('network.bad_config')
    expect(issues).toHaveLength(1)
    expect(issues[0]).toMatch(new RegExp(`^${field}: \\S`))
  })
})

test('all that is wrong is said at once, and no secret with it', () => {
  const yaml = YAML.replaceAll('interval: 360', 'interval: 0').replace(/max_message.*\n/, '')
  const { issues, text } = refusal(() => parseNetworkConfig(yaml))
  expect(issues.map((issue) => issue.split(':')[0])).toEqual([
    'otp.dht.interval',
    'otp.crypto.interval',
    'max_message_size',
  ])
  expect(text).not.toContain('abcdefgh')
})

test('line ends inside a token are skipped, as legacy nodes do', () => {
  expect(parseToken(`${TOKEN.slice(0, 76)}\r\n${TOKEN.slice(76)}\n`)).toEqual(parseNetworkConfig(YAML))
})

test.each([
  ['empty', '', /base64 text/],
  ['not base64', 'not a token!', /no spaces/],
  ['in the URL alphabet', `${TOKEN.slice(0, -5)}-_8=`, /standard alphabet/],
  ['cut off', TOKEN.slice(0, -3), /padding/],
  ['padded in the middle', `${TOKEN}${TOKEN}`, /padding/],
  ['with a space at the end', `${TOKEN} `, /no spaces/],
  ['no text', 'gICA', /UTF-8/],
  ['of another YAML', btoa('a: 1\n'), /otp\.crypto/],
])('a token %s is refused without showing it', (_what, token, why) => {
  const { code, issues, text } = refusal(() => parseToken(token))
  expect(code).toBe('network.bad_token')
  expect(issues.join()).toMatch(why)
  expect(text).not.toContain(token.slice(0, 8) || TOKEN)
})

test('a new network has fresh keys, the asked interval, and reads as it was written', () => {
  const config = generateNetworkConfig({ intervalS: 20 }, systemRandom)
  expect(config.crypto.intervalS).toBe(20n)
  expect(config.dht?.intervalS).toBe(20n)
  expect(generateNetworkConfig({}, systemRandom).crypto.intervalS).toBe(360n)
  const texts = [config.dht?.key, config.crypto.key, config.room, config.rendezvous, config.mdns]
  expect(new Set(texts).size).toBe(5)
  for (const text of texts) expect(text).toMatch(/^[a-zA-Z0-9]{43}$/)
  expect(parseToken(encodeToken(config))).toEqual(config)
})

test('every character of generated keys is equally likely', () => {
  const random = createSeededRandom(7)
  const seen = new Map<string, number>()
  const draws = 2000
  for (let i = 0; i < draws; i++) {
    for (const char of generateNetworkConfig({}, random).room.slice(1)) {
      seen.set(char, (seen.get(char) ?? 0) + 1)
    }
  }
  const expected = (draws * 42) / 62
  expect(seen.size).toBe(62)
  // a byte taken modulo 62 would put eight characters a quarter above the others
  for (const count of seen.values()) expect(Math.abs(count / expected - 1)).toBeLessThan(0.12)
})

test('the network id tells networks apart, and key from room', () => {
  const config = parseNetworkConfig(YAML)
  expect(networkId(config)).toMatch(/^[0-9a-f]{20}$/)
  const moved = { ...config, crypto: { ...config.crypto, key: 'ab' }, room: 'c' }
  expect(networkId(moved)).not.toBe(
    networkId({ ...moved, crypto: { ...moved.crypto, key: 'a' }, room: 'bc' }),
  )
})

test('whatever is thrown at it, reading ends with a configuration or a refusal', () => {
  const config = fc.record({
    dht: fc.option(
      fc.record({
        key: fc.string({ minLength: 1 }),
        intervalS: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
        length: fc.integer({ min: 1, max: 44 }),
      }),
      { nil: undefined },
    ),
    crypto: fc.record({
      key: fc.string({ minLength: 1 }),
      intervalS: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
      length: fc.integer({ min: 1, max: 44 }),
    }),
    room: fc.string({ minLength: 1 }),
    rendezvous: fc.string(),
    mdns: fc.string(),
    maxMessageBytes: fc.integer({ min: 1024, max: 2 ** 28 }),
  })
  fc.assert(
    fc.property(config, (drawn) => {
      expect(parseToken(encodeToken(drawn))).toEqual(drawn)
    }),
  )
  fc.assert(
    fc.property(fc.string(), fc.nat(YAML.length), (junk, at) => {
      const ends = outcome(() => parseNetworkConfig(YAML.slice(0, at) + junk + YAML.slice(at)))
      expect(['read', 'network.bad_config']).toContain(ends)
    }),
  )
})

function outcome(run: () => unknown): string {
  try {
    run()
    return 'read'
  } catch (error) {
    return error instanceof MeshError ? error.code : String(error)
  }
}
