import { isDeepStrictEqual } from 'node:util'
import { toError } from '@mesh/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { describeReach } from './describe.ts'
import {
  createPeerState,
  type Grant,
  openOf,
  type PeerAddress,
  type PeerEffect,
  type PeerInput,
  type PeerState,
  type Route,
  type SeenConnection,
} from './peer-state.ts'
import { step } from './step.ts'
import { wakeAt } from './machines.ts'

const ROUTES: readonly Route[] = ['direct', 'relay', 'webrtc']

const address: fc.Arbitrary<PeerAddress> = fc.oneof(
  fc.nat(3).map((at) => ({ text: `/ip4/192.0.2.${at}/tcp/4001`, relay: undefined })),
  fc.nat(3).map((at) => ({ text: `/ip4/198.51.100.${at}/tcp/1/p2p/r${at}/p2p-circuit`, relay: `r${at}` })),
)
const addresses = fc.array(address, { maxLength: 4 })
const connection: fc.Arbitrary<SeenConnection> = fc.record({
  id: fc.nat(4).map((at) => `c${at}`),
  direct: fc.boolean(),
  outbound: fc.boolean(),
  transport: fc.constantFrom('tcp', 'webrtc', undefined),
  relayAt: fc.constantFrom('/ip4/198.51.100.1/tcp/1/p2p/r1', undefined),
  used: fc.boolean(),
  dialsBack: fc.boolean(),
  openedAt: fc.constantFrom(0, 1_000, 60_000),
  asked: fc.boolean(),
})
const connections = fc.uniqueArray(connection, { maxLength: 4, selector: ({ id }) => id })
const purpose = fc.constantFrom('search', 'demand')
const grant: fc.Arbitrary<Grant> = fc.oneof(
  fc.record({ kind: fc.constant('dial'), purpose }),
  fc.record({ kind: fc.constant('dialOver'), purpose }),
  fc.record({ kind: fc.constantFrom('upgrade', 'reserve', 'makeRoom') }),
  fc.record({ kind: fc.constant('prune'), connection: fc.nat(4).map((at) => `c${at}`) }),
)
/** Anything, in any order: also what the plan and the shell would never say in that state. */
const input: fc.Arbitrary<PeerInput> = fc.oneof(
  fc.record({
    type: fc.constant('found'),
    kind: fc.constantFrom('configured', 'member', 'found'),
    addresses,
    source: fc.constantFrom('dht', 'mdns'),
  }),
  fc.constant({ type: 'demand' } as const),
  fc.record(
    { type: fc.constant('connections'), connections, missedAt: addresses },
    { requiredKeys: ['type', 'connections'] },
  ),
  fc.record({ type: fc.constant('granted'), grant, usable: addresses }),
  fc.record(
    {
      type: fc.constant('dialled'),
      route: fc.constantFrom(...ROUTES),
      attempt: fc.nat(6),
      error: fc.constant('refused'),
    },
    { requiredKeys: ['type', 'route', 'attempt'] },
  ),
  fc.record({ type: fc.constant('membership'), proven: fc.boolean() }),
  fc.record({ type: fc.constant('relayOffer'), offered: fc.boolean() }),
  fc.record({ type: fc.constant('reserved'), ok: fc.boolean() }),
  fc.constant({ type: 'tick' } as const),
)
const course = fc.array(fc.tuple(input, fc.integer({ min: 0, max: 400_000 })), { maxLength: 40 })

interface Stepped {
  readonly before: PeerState
  readonly after: PeerState
  readonly input: PeerInput
  readonly effects: readonly PeerEffect[]
  readonly now: number
}

/** Looks after each input of random courses of a peer's life; gives a course after which `holds` is false. */
function findBreach(holds: (stepped: Stepped) => boolean): string | undefined {
  const property = fc.property(course, fc.boolean(), fc.nat(), (inputs, dialsFirst, seed) => {
    let state = createPeerState({ peer: 'm', self: dialsFirst ? 'a' : 'z', seed })
    let now = 0
    return inputs.every(([next, waitMs]) => {
      now += waitMs
      const before = state
      const stepped = step(before, next, now)
      state = stepped.state
      return holds({ before, after: state, input: next, effects: stepped.effects, now })
    })
  })
  const { failed, counterexample, errorInstance } = fc.check(property, { numRuns: 300 })
  return failed ? `${JSON.stringify(counterexample)} ${toError(errorInstance).message}` : undefined
}

const startedBy = (effects: readonly PeerEffect[]) =>
  effects.flatMap((effect) => {
    if (effect.type === 'dial') return [{ route: effect.route, attempt: effect.attempt }]
    return effect.type === 'dialWebRtc' ? [{ route: 'webrtc', attempt: effect.attempt }] : []
  })
const areDistinct = (values: readonly unknown[]) => new Set(values).size === values.length

test('whatever happens in whatever order, nothing throws, and the state prints as one line', () => {
  const breach = findBreach(({ after, now }) => {
    const line = describeReach(after, now)
    return !line.includes('\n') && line.length <= 240
  })
  expect(breach).toBeUndefined()
})

test('one input asks for few things: a dial for each route and one word for each connection', () => {
  const breach = findBreach(({ before, after, effects }) => {
    const known = Math.max(before.connections.length, after.connections.length)
    const routes = startedBy(effects).map(({ route }) => route)
    return effects.length <= 2 * ROUTES.length + 2 * known + 4 && areDistinct(routes)
  })
  expect(breach).toBeUndefined()
})

test('nothing is dialled without an address, and a direct dial never goes over a relay', () => {
  const breach = findBreach(({ effects }) =>
    effects.every((effect) => {
      if (effect.type === 'dialWebRtc') return effect.relayAt !== ''
      if (effect.type !== 'dial') return true
      const isRelayed = effect.route === 'relay'
      return (
        effect.addresses.length > 0 &&
        effect.addresses.every(({ relay }) => (relay !== undefined) === isRelayed)
      )
    }),
  )
  expect(breach).toBeUndefined()
})

test('every attempt has a number of its own, and what is under way is what was begun last', () => {
  const breach = findBreach(({ before, after, effects }) => {
    const begun = startedBy(effects).map(({ attempt }) => attempt)
    const abandoned = effects.flatMap((effect) => (effect.type === 'abandon' ? [effect.attempt] : []))
    const isFollowed = ROUTES.every((route) => {
      const attempt = after.dials[route]?.attempt
      if (attempt === undefined) return true
      const isKnown = begun.includes(attempt) || before.dials[route]?.attempt === attempt
      return isKnown && !abandoned.includes(attempt)
    })
    return isFollowed && areDistinct(begun) && begun.every((attempt) => attempt > before.attempts)
  })
  expect(breach).toBeUndefined()
})

test('a connection that was told to close stays so until it is gone, and only open ones are closed', () => {
  const breach = findBreach(({ before, after, input: next, effects }) => {
    const closing = new Set(before.connections.flatMap(({ id, closing: is }) => (is ? [id] : [])))
    const known = (next.type === 'connections' ? next.connections : before.connections).map(({ id }) => id)
    return (
      after.connections.every(({ id, closing: is }) => is || !closing.has(id)) &&
      effects.every((effect) => effect.type !== 'close' || known.includes(effect.connection))
    )
  })
  expect(breach).toBeUndefined()
})

test('of one who is connected nothing is searched, and its last connection is not closed for another', () => {
  const breach = findBreach(({ before, after, input: next, effects }) => {
    if (next.type !== 'connections') return true
    const closing = new Set(before.connections.flatMap(({ id, closing: is }) => (is ? [id] : [])))
    const stood = next.connections.some(({ id }) => !closing.has(id))
    const isOpen = openOf(after).length > 0
    return (isOpen || !stood) && !(isOpen && effects.some(({ type }) => type === 'searchFailed'))
  })
  expect(breach).toBeUndefined()
})

test('who waits for a connection is answered once', () => {
  const breach = findBreach(({ before, after, input: next, effects }) => {
    const answers = effects.filter(({ type }) => type === 'answer').length
    const wasAsked = before.demand !== undefined || next.type === 'demand'
    return answers <= (wasAsked ? 1 : 0) && (!wasAsked || after.demand !== undefined || answers === 1)
  })
  expect(breach).toBeUndefined()
})

test('the time to look again is ahead', () => {
  expect(findBreach(({ after, now }) => wakeAt(after, now) > now)).toBeUndefined()
})

test('the same input in the same state gives the same: nothing is read from outside', () => {
  const breach = findBreach(({ before, after, input: next, effects, now }) =>
    isDeepStrictEqual(step(before, next, now), { state: after, effects }),
  )
  expect(breach).toBeUndefined()
})
