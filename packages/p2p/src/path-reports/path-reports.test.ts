import { peerIdFromPublicKey, type PeerId, silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { writer } from 'protons-runtime'
import { expect, test } from 'vitest'
import type { Channel } from '../p2p-node.ts'
import { PATHS_PROTOCOL } from '../protocols.ts'
import {
  MAX_ASKED_AT_ONCE,
  MAX_KEPT_REPORTS,
  MAX_TOLD_PATHS,
  OWN_REPORT_AGE_MS,
  REPORT_MAX_AGE_MS,
  REPORT_TIMEOUT_MS,
} from './limits.ts'
import type { Reached } from './own-report.ts'
import { PathReports } from './path-reports.ts'
import { decodePaths, encodePaths } from './paths-message.ts'

const idOf = (at: number): PeerId =>
  peerIdFromPublicKey(new Uint8Array(32).map((_byte, place) => (at >> (8 * place)) & 255))
const SELF = idOf(0)
const [A, B] = [idOf(1), idOf(2)]
const empty = encodePaths({ paths: [], more: 0 })

/** A member of the test: what it answers, and what becomes of its channel. */
type Answer = (channel: Channel) => AsyncIterable<Uint8Array>

function build(given: { members?: readonly PeerId[]; others?: readonly Reached[] } = {}) {
  const clock = createManualClock()
  const asked: PeerId[] = []
  const refused: string[] = []
  const aborted: PeerId[] = []
  let members = given.members ?? [A]
  let answer: Answer = async function* () {
    yield empty
  }
  let serve: (channel: Channel) => Promise<void> = async () => {}
  const spoken = new Map<string, ReadonlySet<string> | undefined>()
  const channelTo = (peer: PeerId, sent: Uint8Array[] = []): Channel => {
    const channel: Channel = {
      peer,
      direct: true,
      send: async (bytes) => void sent.push(bytes),
      messages: () => answer(channel),
      close: async () => {},
      abort: () => void aborted.push(peer),
    }
    return channel
  }
  const booked = (id: PeerId): Reached => ({
    id,
    connected: true,
    member: true,
    path: 'direct',
    relay: undefined,
    rttMs: 2,
  })
  const reports = new PathReports({
    self: SELF,
    channels: {
      handle: async (_protocol, _options, handler) => void (serve = handler),
      async open(peer) {
        asked.push(peer)
        return channelTo(peer)
      },
    },
    book: { all: () => [...members.map(booked), ...(given.others ?? [])] },
    bandwidth: { byPeer: () => new Map([[A, { totalIn: 9, totalOut: 9, rateIn: 20, rateOut: 10.4 }]]) },
    spoken: { of: (peer) => (spoken.has(peer) ? spoken.get(peer) : new Set([PATHS_PROTOCOL])) },
    refusals: { refuse: (code) => void refused.push(code) },
    clock,
    logger: silentLogger,
  })
  return {
    reports,
    clock,
    asked,
    refused,
    aborted,
    spoken,
    answers: (next: Answer) => void (answer = next),
    setMembers: (next: readonly PeerId[]) => void (members = next),
    states: () =>
      reports
        .reports()
        .slice(1)
        .map(({ state }) => state),
    async question(peer: PeerId) {
      const sent: Uint8Array[] = []
      await serve(channelTo(peer, sent))
      return sent
    },
  }
}

const says = (bytes: Uint8Array): Answer =>
  async function* () {
    yield bytes
  }
const never: Answer = async function* () {
  await new Promise(() => {})
  yield empty
}

test('tells the own paths at once, and those of a member once it has answered', async () => {
  const { reports, clock, answers, asked } = build({ members: [A, B] })
  const told = { peer: B, path: 'relayed', relay: SELF, rttMs: 3, bytesPerSecond: 5 } as const
  answers(says(encodePaths({ paths: [told], more: 4 })))
  const [own, first] = reports.reports()
  const direct = { path: 'direct', relay: undefined, rttMs: 2 }
  expect(own).toEqual({
    peer: SELF,
    state: 'told',
    ageMs: 0,
    paths: [
      { peer: A, ...direct, bytesPerSecond: 30 },
      { peer: B, ...direct, bytesPerSecond: 0 },
    ],
    more: 0,
  })
  expect(first).toEqual({ peer: A, state: 'asked', ageMs: undefined, paths: [], more: 0 })
  await clock.advance(700)
  expect(reports.reports()[1]).toEqual({ peer: A, state: 'told', ageMs: 700, paths: [told], more: 4 })
  expect(asked).toEqual([A, B])
})

test('asks nobody while nobody reads, and a member again after 30 s', async () => {
  const { reports, clock, asked } = build()
  await clock.advance(10 * REPORT_MAX_AGE_MS)
  expect(asked).toEqual([])
  reports.reports()
  await clock.advance(REPORT_MAX_AGE_MS - 1)
  reports.reports()
  expect(asked).toEqual([A])
  await clock.advance(1)
  expect(reports.reports()[1]).toMatchObject({ state: 'told', ageMs: REPORT_MAX_AGE_MS })
  await clock.advance(10 * REPORT_MAX_AGE_MS)
  expect(asked).toEqual([A, A])
})

test('a member that does not answer in time is silent, and its channel ends', async () => {
  const { states, clock, answers, aborted } = build()
  answers(never)
  states()
  await clock.advance(REPORT_TIMEOUT_MS - 1)
  expect(states()).toEqual(['asked'])
  await clock.advance(1)
  expect([states(), aborted]).toEqual([['silent'], [A]])
})

test.each([
  ['no report', Uint8Array.of(1, 2, 3)],
  ['an id of no peer', writer().uint32(10).bytes(writer().uint32(10).string('x').finish()).finish()],
  [
    'too many paths',
    encodePaths({
      paths: Array.from({ length: MAX_TOLD_PATHS + 1 }, (_, at) => ({
        peer: idOf(at),
        path: 'direct',
        relay: undefined,
        rttMs: 1,
        bytesPerSecond: 1,
      })),
      more: 0,
    }),
  ],
])('a member that sends %s is refused, and told to be silent', async (_name, bytes) => {
  const { states, clock, answers, refused } = build()
  answers(says(bytes))
  states()
  await clock.advance(1)
  expect([states(), refused]).toEqual([['silent'], ['paths.bad_message']])
})

test('a channel that breaks, or ends without a word, is silence', async () => {
  for (const answer of [
    async function* (): AsyncIterable<Uint8Array> {
      yield* [] as Uint8Array[]
      throw new Error('too long')
    },
    async function* (): AsyncIterable<Uint8Array> {
      yield* [] as Uint8Array[]
    },
  ]) {
    const { states, clock, answers, refused } = build()
    answers(answer)
    states()
    await clock.advance(1)
    expect([states(), refused]).toEqual([['silent'], []])
  }
})

test('members that do not speak the protocol are not asked, nor those of which it is not known yet', async () => {
  const { states, spoken, asked } = build({ members: [A, B] })
  spoken.set(A, new Set())
  spoken.set(B, undefined)
  expect(states()).toEqual(['unsupported', 'asked'])
  expect(asked).toEqual([])
})

test('asks a few at a time, and the next ones when they have answered', async () => {
  const members = Array.from({ length: 30 }, (_, at) => idOf(at + 1))
  const { states, clock, answers, asked } = build({ members })
  answers(never)
  states()
  states()
  await clock.advance(1)
  expect(asked).toHaveLength(MAX_ASKED_AT_ONCE)
  await clock.advance(REPORT_TIMEOUT_MS)
  expect(asked).toHaveLength(2 * MAX_ASKED_AT_ONCE)
  expect(new Set(asked).size).toBe(asked.length)
})

test('keeps the reports of some members; others have their turn when these are old', async () => {
  const members = Array.from({ length: MAX_KEPT_REPORTS + 50 }, (_, at) => idOf(at + 1))
  const { states, clock, asked } = build({ members })
  states()
  await clock.advance(1_000)
  expect(asked).toHaveLength(MAX_KEPT_REPORTS)
  states()
  await clock.advance(1_000)
  expect(asked).toHaveLength(MAX_KEPT_REPORTS)
  await clock.advance(REPORT_MAX_AGE_MS)
  states()
  await clock.advance(1_000)
  expect(new Set(asked)).toEqual(new Set(members))
  expect(states().filter((state) => state === 'told')).toHaveLength(MAX_KEPT_REPORTS)
})

test('a member that left is forgotten with its report', async () => {
  const { reports, clock, setMembers } = build({ members: [A, B] })
  reports.reports()
  await clock.advance(1)
  setMembers([B])
  expect(reports.reports().map(({ peer }) => peer)).toEqual([SELF, B])
  setMembers([A, B])
  expect(reports.reports()[1]).toMatchObject({ peer: A, state: 'asked' })
})

test('answers with paths to connected members alone, and counts those beyond the bound', async () => {
  const members = Array.from({ length: MAX_TOLD_PATHS + 3 }, (_, at) => idOf(at + 1))
  const others = [
    { id: idOf(9_001), connected: true, member: false, path: 'direct', relay: undefined, rttMs: 1 },
    { id: idOf(9_002), connected: false, member: true, path: undefined, relay: undefined, rttMs: 1 },
  ] as const
  const { reports, question } = build({ members, others })
  await reports.start()
  const [bytes = new Uint8Array()] = await question(A)
  const told = decodePaths(bytes)
  expect(told?.paths.map(({ peer }) => peer)).toEqual(members.slice(0, MAX_TOLD_PATHS))
  expect(told?.more).toBe(3)
})

test('answers a member twice at once and then every 5 s; more is refused and counted', async () => {
  const { reports, question, clock, refused, aborted } = build()
  await reports.start()
  const answers = async () => (await question(A)).length
  expect([await answers(), await answers(), await answers()]).toEqual([1, 1, 0])
  expect([refused, aborted]).toEqual([['paths.too_many'], [A]])
  expect((await question(B)).length).toBe(1)
  await clock.advance(5_000)
  expect(await answers()).toBe(1)
})

test('gives the same answer to members that ask at the same moment', async () => {
  const { reports, question, clock, setMembers } = build()
  await reports.start()
  const [first] = await question(A)
  setMembers([A, B])
  expect((await question(B))[0]).toBe(first)
  await clock.advance(OWN_REPORT_AGE_MS)
  expect((await question(idOf(3)))[0]).not.toEqual(first)
})

test('asks nobody after it stopped', async () => {
  const { reports, clock, answers, asked, aborted } = build({ members: [A] })
  answers(never)
  reports.reports()
  await clock.advance(1)
  reports.stop()
  await clock.advance(1)
  expect(aborted).toEqual([A])
  await clock.advance(REPORT_MAX_AGE_MS)
  reports.reports()
  expect(asked).toEqual([A])
})
