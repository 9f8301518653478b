import { readFileSync } from 'node:fs'
import { parsePeerId } from '@mesh/core'
import fc from 'fast-check'
import { writer } from 'protons-runtime'
import { expect, test } from 'vitest'
import { MAX_REPORT_BYTES, MAX_TOLD_PATHS } from './limits.ts'
import type { ToldPath } from './path-report.ts'
import { decodePaths, encodePaths } from './paths-message.ts'

const A = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
const B = parsePeerId('12D3KooWCd3eX8r5ihRvzK7P1yPq5aakaBJhG5GNj18YTztPhoCa')

const direct: ToldPath = { peer: A, path: 'direct', relay: undefined, rttMs: 1.5, bytesPerSecond: 300 }
const relayed: ToldPath = { peer: B, path: 'relayed', relay: A, rttMs: undefined, bytesPerSecond: 0 }

/** A message of one path whose fields the test writes. */
function pathOf(write: (out: ReturnType<typeof writer>) => unknown): Uint8Array {
  const path = writer()
  write(path)
  return writer().uint32(10).bytes(path.finish()).finish()
}

test('tells direct and relayed paths, and how many are left out', () => {
  const told = { paths: [direct, relayed], more: 7 }
  expect(decodePaths(encodePaths(told))).toEqual(told)
  expect(decodePaths(new Uint8Array())).toEqual({ paths: [], more: 0 })
})

test('is the vector of docs/PROTOCOLS.md', () => {
  const hex = Buffer.from(encodePaths({ paths: [direct, relayed], more: 7 })).toString('hex')
  const document = readFileSync(new URL('../../../../docs/PROTOCOLS.md', import.meta.url), 'utf8')
  expect(document).toContain(`\`${hex}\``)
})

test('the longest report fits into a message', () => {
  const longest = { ...relayed, rttMs: 4_000_000, bytesPerSecond: Number.MAX_SAFE_INTEGER }
  const bytes = encodePaths({
    paths: Array.from({ length: MAX_TOLD_PATHS }, () => longest),
    more: 2 ** 32 - 1,
  })
  expect(bytes.length).toBeLessThanOrEqual(MAX_REPORT_BYTES)
})

test('skips fields that it does not know', () => {
  const bytes = pathOf((out) =>
    out
      .uint32(10)
      .string(A)
      .uint32(12 << 3)
      .uint32(1),
  )
  expect(decodePaths(bytes)?.paths).toEqual([{ ...direct, rttMs: undefined, bytesPerSecond: 0 }])
})

test('a path that comes twice counts once', () => {
  const paths = [direct, { ...direct, rttMs: 9 }]
  expect(decodePaths(encodePaths({ paths, more: 0 }))?.paths).toEqual([{ ...direct, rttMs: 9 }])
})

test.each([
  ['no peer', pathOf((out) => out.uint32(16).bool(true))],
  ['no peer id', pathOf((out) => out.uint32(10).string('nobody'))],
  ['a long peer id', pathOf((out) => out.uint32(10).string('1'.repeat(60_000)))],
  [
    'a relay that is no peer',
    pathOf((out) => out.uint32(10).string(A).uint32(16).bool(true).uint32(26).string('x')),
  ],
  ['a direct path over a relay', pathOf((out) => out.uint32(10).string(A).uint32(26).string(B))],
  [
    'a rate beyond all numbers',
    pathOf((out) =>
      out
        .uint32(10)
        .string(A)
        .uint32(40)
        .uint64(2n ** 63n),
    ),
  ],
  ['a cut message', encodePaths({ paths: [direct], more: 0 }).subarray(0, 20)],
])('refuses %s', (_name, bytes) => {
  expect(decodePaths(bytes)).toBeUndefined()
})

test('refuses thousands of paths', () => {
  const out = writer()
  for (let at = 0; at < 5_000; at++) out.uint32(10).bytes(writer().uint32(10).string(A).finish())
  expect(decodePaths(out.finish())).toBeUndefined()
  const empty = new Uint8Array(MAX_REPORT_BYTES).map((_byte, at) => (at % 2 === 0 ? 10 : 0))
  expect(decodePaths(empty)).toBeUndefined()
})

test('never throws', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void decodePaths(bytes)))
  const valid = encodePaths({ paths: [direct, relayed], more: 3 })
  fc.assert(
    fc.property(fc.nat(valid.length - 1), fc.nat(255), (at, byte) => {
      const changed = Uint8Array.from(valid)
      changed[at] = byte
      const told = decodePaths(changed)
      for (const { rttMs = 0, bytesPerSecond } of told?.paths ?? [])
        expect(Number.isFinite(rttMs) && Number.isSafeInteger(bytesPerSecond)).toBe(true)
    }),
  )
})
