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
import { step, wakeAt } from './step.ts'

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

/** Calls `look` after each input of a random course of a peer's life. */
function forEachStep(look: (stepped: Stepped) => void): void {
  fc.assert(
    fc.property(course, fc.boolean(), fc.nat(), (inputs, dialsFirst, seed) => {
      let state = createPeerState({ peer: 'm', self: dialsFirst ? 'a' : 'z', seed })
      let now = 0
      for (const [next, waitMs] of inputs) {
        now += waitMs
        const before = state
        const stepped = step(before, next, now)
        state = stepped.state
        look({ before, after: state, input: next, effects: stepped.effects, now })
      }
    }),
    { numRuns: 300 },
  )
}

const dialsOf = (effects: readonly PeerEffect[]) =>
  effects.filter(({ type }) => type === 'dial' || type === 'dialWebRtc')

test('whatever happens in whatever order, nothing throws, and the state prints as one line', () => {
  forEachStep(({ after, now }) => {
    const line = describeReach(after, now)
    expect(line).not.toContain('\n')
    expect(line.length).toBeLessThanOrEqual(240)
  })
})

test('one input asks for few things: a dial for each route and one word for each connection', () => {
  forEachStep(({ before, after, effects }) => {
    const known = Math.max(before.connections.length, after.connections.length)
    expect(effects.length).toBeLessThanOrEqual(2 * ROUTES.length + 2 * known + 4)
    const started = dialsOf(effects).map((effect) => (effect.type === 'dial' ? effect.route : 'webrtc'))
    expect(new Set(started).size).toBe(started.length)
  })
})

test('nothing is dialled without an address, and a direct dial never goes over a relay', () => {
  forEachStep(({ effects }) => {
    for (const effect of effects) {
      if (effect.type === 'dialWebRtc') expect(effect.relayAt).not.toBe('')
      if (effect.type !== 'dial') continue
      expect(effect.addresses.length).toBeGreaterThan(0)
      const isRelayed = effect.addresses.map(({ relay }) => relay !== undefined)
      expect(new Set(isRelayed)).toEqual(new Set([effect.route === 'relay']))
    }
  })
})

test('every attempt has a number of its own, and what is under way is what was begun last', () => {
  forEachStep(({ before, after, effects }) => {
    const begun = effects.flatMap((effect) =>
      effect.type === 'dial' || effect.type === 'dialWebRtc' ? [effect.attempt] : [],
    )
    expect(begun.every((attempt) => attempt > before.attempts)).toBe(true)
    expect(new Set(begun).size).toBe(begun.length)
    expect(after.attempts).toBeGreaterThanOrEqual(before.attempts)
    const abandoned = effects.flatMap((effect) => (effect.type === 'abandon' ? [effect.attempt] : []))
    for (const route of ROUTES) {
      const attempt = after.dials[route]?.attempt
      if (attempt === undefined) continue
      expect([...begun, before.dials[route]?.attempt]).toContain(attempt)
      expect(abandoned).not.toContain(attempt)
    }
  })
})

test('a connection that was told to close stays so until it is gone, and only open ones are closed', () => {
  forEachStep(({ before, after, input: next, effects }) => {
    const closing = new Set(before.connections.flatMap(({ id, closing: is }) => (is ? [id] : [])))
    for (const { id, closing: is } of after.connections) if (closing.has(id)) expect(is).toBe(true)
    const known = next.type === 'connections' ? next.connections : before.connections
    for (const effect of effects) {
      if (effect.type === 'close') expect(known.map(({ id }) => id)).toContain(effect.connection)
    }
  })
})

test('of one who is connected nothing is searched, and the last connection is not closed for another of its own', () => {
  forEachStep(({ before, after, input: next, effects }) => {
    if (next.type !== 'connections') return
    const stood = next.connections.some(
      ({ id }) => before.connections.find((each) => each.id === id)?.closing !== true,
    )
    if (stood) expect(openOf(after).length).toBeGreaterThan(0)
    if (openOf(after).length > 0) expect(effects.some(({ type }) => type === 'searchFailed')).toBe(false)
  })
})

test('who waits for a connection is answered once', () => {
  forEachStep(({ before, after, input: next, effects }) => {
    const answers = effects.filter(({ type }) => type === 'answer').length
    const wasAsked = before.demand !== undefined || next.type === 'demand'
    expect(answers).toBeLessThanOrEqual(wasAsked ? 1 : 0)
    if (wasAsked && after.demand === undefined) expect(answers).toBe(1)
  })
})

test('the time to look again is ahead', () => {
  forEachStep(({ after, now }) => {
    expect(wakeAt(after, now)).toBeGreaterThan(now)
  })
})

test('the same input in the same state gives the same: nothing is read from outside', () => {
  forEachStep(({ before, after, input: next, effects, now }) => {
    expect(step(before, next, now)).toEqual({ state: after, effects })
  })
})
