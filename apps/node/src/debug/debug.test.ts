import { gunzipSync } from 'node:zlib'
import { systemClock } from '@mesh/core'
import { Profile } from 'pprof-format'
import { expect, test } from 'vitest'
import { commandWords } from './command-words.ts'
import { encodeCpuProfile, takeCpuProfile } from './cpu-profile.ts'
import { createDebugPort } from './create-debug-port.ts'
import { encodeHeapProfile } from './heap-profile.ts'
import { describePendingWork } from './pending-work.ts'

const never = new AbortController().signal
const frame = (functionName: string, lineNumber = 4) => ({
  functionName,
  url: 'file:///a.js',
  lineNumber,
  columnNumber: 0,
  scriptId: '1',
})

/** The samples of an encoded profile: its stack by names, the innermost first, and its values. */
function decode(encoded: Uint8Array) {
  const profile = Profile.decode(gunzipSync(encoded))
  const text = (at: number | bigint) => profile.stringTable.strings[Number(at)]
  const functions = new Map(profile.function.map((each) => [Number(each.id), each]))
  const locations = new Map(profile.location.map((each) => [Number(each.id), each.line[0]]))
  return {
    types: profile.sampleType.map(({ type, unit }) => `${text(type)} ${text(unit)}`),
    samples: profile.sample.map(({ locationId, value }) => ({
      stack: locationId.map((id) => {
        const line = locations.get(Number(id))
        return `${text(functions.get(Number(line?.functionId))?.name ?? 0)}:${Number(line?.line)}`
      }),
      values: value.map(Number),
    })),
  }
}

test('a CPU profile sums the time of each stack, and leaves out the time in which nothing ran', () => {
  const profile = {
    nodes: [
      { id: 1, callFrame: frame('(root)', -1), children: [2, 4] },
      { id: 2, callFrame: frame('outer'), children: [3] },
      { id: 3, callFrame: frame('') },
      { id: 4, callFrame: frame('(idle)', -1) },
    ],
    startTime: 0,
    endTime: 10_000,
    samples: [3, 3, 4, 2],
    timeDeltas: [1_000, 2_000, 6_000, 1_000],
  }
  expect(decode(encodeCpuProfile(profile, 1_700_000_000_000))).toEqual({
    types: ['samples count', 'cpu nanoseconds'],
    samples: [
      { stack: ['(anonymous):5', 'outer:5'], values: [2, 3_000_000] },
      { stack: ['outer:5'], values: [1, 1_000_000] },
    ],
  })
})

test('a heap profile has the bytes and objects of each stack', () => {
  const leaf = { id: 3, callFrame: frame('fill'), selfSize: 2_048, children: [] }
  const head = {
    id: 1,
    callFrame: frame('(root)', -1),
    selfSize: 0,
    children: [{ id: 2, callFrame: frame('main'), selfSize: 0, children: [leaf] }],
  }
  const samples = [
    { nodeId: 3, size: 1_024 },
    { nodeId: 3, size: 1_024 },
  ]
  const encoded = encodeHeapProfile({ head, samples }, { takenAt: 1_700_000_000_000, durationMs: 5 })
  expect(decode(encoded)).toEqual({
    types: ['inuse_objects count', 'inuse_space bytes'],
    samples: [{ stack: ['fill:5', 'main:5'], values: [2, 2_048] }],
  })
})

test('a profile ends when its asker leaves', async () => {
  const left = new AbortController()
  const asked = [
    takeCpuProfile(60, systemClock, left.signal),
    describePendingWork(60, systemClock, left.signal),
  ]
  left.abort(new Error('the asker has left'))
  for (const each of asked) await expect(each).rejects.toThrow('the asker has left')
})

test('what is pending is told with the place at which it began', async () => {
  const began = describePendingWork(0.05, systemClock, never)
  let finish = () => {}
  const waiting = (async function waitsForSomething() {
    await new Promise<void>((resolve) => (finish = resolve))
  })()
  const text = await began
  finish()
  await waiting
  expect(text).toMatch(/^event loop over 0.05 s: [\d.]+ % busy, delay p50 [\d.]+ ms/)
  expect(text).toMatch(/active resources:\n/)
  expect(text).toMatch(/active handles: \d+/)
  expect(text).toMatch(/\d+ @ PROMISE\n[^@]*waitsForSomething/)
})

test('every profile that the index names can be taken', async () => {
  const port = await createDebugPort(systemClock)
  for (const { name, defaultSeconds } of port.profiles) {
    const seconds = defaultSeconds === undefined ? 0 : 0.02
    const { body } = await port.take({ name, seconds, collectsGarbage: true }, never)
    expect([name, body.length > 10]).toEqual([name, true])
  }
})

test('the command line is told without its secrets', () => {
  const words = ['node', 'mesh', 'api', '--token', 'b3Rw', '--token=b3Rw', '--listen=:80', '--invite=x']
  expect(commandWords(words).split('\0')).toEqual([
    'node',
    'mesh',
    'api',
    '--token',
    '***',
    '--token=***',
    '--listen=:80',
    '--invite=***',
  ])
})
