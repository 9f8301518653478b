/** A short form of `npm run fuzz`: every decoder of the node, with a seed that never changes. */
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { stopDecoders } from '../fuzz/decoder.ts'
import { openDecoders } from '../fuzz/decoders.ts'
import { runFuzz } from '../fuzz/run-fuzz.ts'

const decoders = await openDecoders()
afterAll(() => stopDecoders(decoders))

test.each(decoders.map((decoder) => [decoder.name, decoder] as const))(
  '%s throws nothing that it does not declare, and neither hangs nor grows',
  async (_name, decoder) => {
    const [result] = await runFuzz({ decoders: [decoder], runs: 100, seed: 20_260 })
    expect(result?.failure).toBeUndefined()
    expect(result?.runs).toBeGreaterThanOrEqual(100)
  },
)

/** Decoders that no list names, and why. */
const NOT_LISTED: Readonly<Record<string, string>> = {
  decodeHits: "reads the engine's own numbers",
  decodePath: 'called by decodeFileMessage',
  decodePem: 'called by tryParsePublicKey',
  decodeRefusal: "reads the engine's own counts",
  decodeStats: "reads the engine's own numbers",
  parseInput: 'called for each request by http',
  parseIpv4Routes: "reads the kernel's own list",
  parseIpv6Routes: "reads the kernel's own list",
  parseJsonBody: 'called for each request by http',
  parseKept: 'called by readStatement',
  parseOfferWord: 'called by checkPolicy',
  parsePeerAddress: 'tryParsePeerId and multiaddr() of the library, for text of this machine',
  parseTerm: 'called by checkPolicy',
  parseTokenLine: 'called by parseTokenList',
  tryParseMultiaddr: 'multiaddr() of the library without its exception',
  tryParseJson: 'JSON.parse without its exception',
}

test('every function of the sources that decodes or parses is on the list', () => {
  const root = resolve(import.meta.dirname, '../..')
  const textOf = (pattern: string) =>
    globSync(pattern, { cwd: root })
      .filter((file) => !file.endsWith('.test.ts') && !file.includes('/testing/'))
      .map((file) => readFileSync(resolve(root, file), 'utf8'))
      .join('\n')
  const listed = textOf('tools/fuzz/**/*.ts')
  const declared = textOf('{packages/*,apps/node}/src/**/*.ts').matchAll(
    /^export (?:async )?(?:function|const) ((?:decode|parse|tryParse)[A-Z]\w*)/gm,
  )
  const names = new Set([...declared].map(([, name = '']) => name))
  expect(names.size).toBeGreaterThan(40)
  const missing = [...names].filter((name) => !new RegExp(`\\b${name}\\b`).test(listed))
  expect(missing.filter((name) => !(name in NOT_LISTED))).toEqual([])
  expect(Object.keys(NOT_LISTED).filter((name) => !missing.includes(name))).toEqual([])
})
