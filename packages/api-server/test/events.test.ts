import { EVENT_RING_SIZE } from '@mesh/api-contract'
import { heartbeatValue, systemRandom } from '@mesh/core'
import { createLedger } from '@mesh/ledger'
import { createManualClock, eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { EVENT_READERS } from '../src/limits.ts'
import { createEventHub, type EventReader } from '../src/events/event-hub.ts'
import { createFakeAccess } from './fake-access.ts'
import { createFakeRules } from './fake-rules.ts'
import { newSigner, PEER, startTestNode } from './fixture.ts'
import { ask } from './raw-http.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

/** Collects what it is sent; takes nothing while `blocked`. */
function createReader(lastEventId?: string, types?: EventReader['types']) {
  const sent: string[] = []
  let ready: (() => void) | undefined
  const state = { blocked: false, ended: false }
  const reader: EventReader = {
    types,
    lastEventId,
    write(text) {
      sent.push(text)
      return !state.blocked
    },
    onReady: (callback) => (ready = callback),
    end: () => (state.ended = true),
  }
  return {
    reader,
    state,
    unblock() {
      state.blocked = false
      ready?.()
    },
    /** Type and number of each event so far. */
    events: () =>
      sent.flatMap((text) => {
        const [, type] = /^event: (.*)$/m.exec(text) ?? []
        return type === undefined ? [] : [`${type} ${/^id: .*-(\d+)$/m.exec(text)?.[1]}`]
      }),
    sent,
    lastId: () => /^id: (.*)$/m.exec(sent.at(-1) ?? '')?.[1] ?? '',
  }
}

function newHub() {
  const clock = createManualClock()
  const hub = createEventHub({ clock, random: systemRandom })
  const publish = (count: number) => {
    for (let at = 0; at < count; at++) hub.publish('peer.disconnected', { PeerID: PEER })
  }
  return { clock, hub, publish }
}

test('a reader gets what happens from now on, in order', () => {
  const { hub, publish } = newHub()
  publish(2)
  const { reader, events, sent } = createReader()
  hub.read(reader)
  publish(2)
  expect(events()).toEqual(['peer.disconnected 3', 'peer.disconnected 4'])
  expect(sent[0]).toMatch(/^retry: 1000\nid: [0-9a-f]{8}-2\n\n$/)
  expect(sent[1]).toMatch(/^id: [0-9a-f]{8}-3\nevent: peer\.disconnected\ndata: \{"PeerID":"12D3.*"\}\n\n$/)
})

test('a reader that comes back continues where it stopped', () => {
  const { hub, publish } = newHub()
  const first = createReader()
  const leave = hub.read(first.reader)
  publish(2)
  leave()
  publish(2)
  const second = createReader(first.lastId())
  hub.read(second.reader)
  expect(first.events()).toEqual(['peer.disconnected 1', 'peer.disconnected 2'])
  expect(second.events()).toEqual(['peer.disconnected 3', 'peer.disconnected 4'])
})

test('a reader that was away for too long is told of the gap', () => {
  const { hub, publish } = newHub()
  const first = createReader()
  hub.read(first.reader)()
  publish(EVENT_RING_SIZE)
  const inTime = createReader(first.lastId())
  hub.read(inTime.reader)
  expect(inTime.events()).toHaveLength(EVENT_RING_SIZE)
  publish(1)
  const late = createReader(first.lastId())
  hub.read(late.reader)
  expect(late.events()).toEqual([`gap ${EVENT_RING_SIZE + 1}`])
})

test.each(['', 'x', '00000000-1', '1', 'ffffffff-99999999999999999999'])(
  'an id that is not of this run (%j) is a gap',
  (id) => {
    const { hub, publish } = newHub()
    publish(3)
    const { reader, events } = createReader(id)
    hub.read(reader)
    expect(events()).toEqual(['gap 3'])
  },
)

test('a slow reader holds nothing back but its own place, and gets a gap when it falls out of the ring', () => {
  const { hub, publish } = newHub()
  const slow = createReader()
  const quick = createReader()
  slow.state.blocked = true
  hub.read(slow.reader)
  hub.read(quick.reader)
  publish(3)
  expect(slow.sent).toHaveLength(1)
  expect(quick.events()).toHaveLength(3)
  slow.unblock()
  expect(slow.events()).toHaveLength(3)
  slow.state.blocked = true
  publish(EVENT_RING_SIZE + 10)
  slow.unblock()
  expect(slow.events().slice(3)).toEqual(['peer.disconnected 4', `gap ${EVENT_RING_SIZE + 13}`])
})

test('a reader that asks for the past gets the last changes and refusals first, and then goes on', () => {
  const { hub, publish, clock } = newHub()
  const change = (bucket: string, block: number) =>
    hub.publish('ledger.changed', {
      Block: block,
      Changes: [{ Bucket: bucket, Key: 'k', Owner: '', Version: 1n, Deleted: false, Origin: 'remote' }],
      More: 0,
    })
  const reject = () =>
    hub.publish('ledger.rejected', {
      Bucket: 'b',
      Key: 'k',
      Owner: '',
      Version: 1n,
      Code: 'BAD_SIG',
      Author: null,
      Suppressed: 0,
    })
  change('notes', 1)
  change('healthcheck', 2)
  publish(EVENT_RING_SIZE)
  // a member that is refused all the time pushes no change out
  for (let at = 0; at < 500; at++) reject()
  const read = (last: number, lastEventId?: string, types?: EventReader['types']) => {
    const made = createReader(lastEventId, types)
    hub.read({ ...made.reader, last })
    return made
  }
  const all = read(300)
  expect(all.events()).toHaveLength(201)
  expect(all.events()[0]).toBe('ledger.changed 1')
  expect(all.sent[1]).toContain(`data: {"At":"${new Date(clock.now()).toISOString()}","Block":1,`)
  expect(read(2).events()).toEqual([`ledger.rejected 1501`, 'ledger.rejected 1502'])
  expect(read(300, undefined, new Set(['ledger.changed'] as const)).events()).toEqual(['ledger.changed 1'])
  expect(read(0).events()).toEqual([])
  // one that comes back goes on from where it stopped
  expect(read(300, all.lastId()).events()).toEqual([])
  change('notes', 3)
  expect(all.events().at(-1)).toBe('ledger.changed 1503')
  expect(all.sent.at(-1)).not.toContain('"At"')
})

test('a slow reader gets the past as it takes it', () => {
  const { hub } = newHub()
  for (let at = 0; at < 3; at++) {
    hub.publish('ledger.conflict', {
      Bucket: 'b',
      Key: `${at}`,
      Owners: [],
      Resolved: false,
      YieldedTo: null,
    })
  }
  const slow = createReader()
  slow.state.blocked = true
  hub.read({ ...slow.reader, last: 200 })
  expect(slow.events()).toEqual([])
  slow.unblock()
  expect(slow.events()).toEqual(['ledger.conflict 1', 'ledger.conflict 2', 'ledger.conflict 3'])
})

test.each(['201', '-1', 'all', ''])('?last=%s is refused', async (last) => {
  const node = await startTestNode()
  cleanups.push(() => node.stop())
  const { status, body } = await ask(node.listener.port, `GET /api/events?last=${last}`)
  expect(status).toBe(400)
  expect(JSON.parse(body)).toMatchObject({ Code: 'http.bad_query', Issues: [{ Field: 'last' }] })
})

test('what happened before a client came is told to it, with its time', async () => {
  const node = await startTestNode()
  cleanups.push(() => node.stop())
  await node.client.putText({ bucket: 'notes', key: 'a', value: 'x', wait: '5s' })
  const controller = new AbortController()
  const events = node.client.events({ last: 200, signal: controller.signal })
  const { value } = await events.next()
  expect(value).toMatchObject({ type: 'ledger.changed', data: { Changes: [{ Bucket: 'notes', Key: 'a' }] } })
  expect(Date.now() - Date.parse(value.data.At)).toBeLessThan(60_000)
  controller.abort()
})

test('large events are kept for as long as their bytes have room', () => {
  const { hub } = newHub()
  const first = createReader()
  hub.read(first.reader)()
  const change = { Bucket: 'b', Owner: '', Version: 1n, Deleted: false, Origin: 'local' } as const
  const Changes = Array.from({ length: 60 }, () => ({ ...change, Key: 'k'.repeat(1000) }))
  for (let block = 0; block < 200; block++) hub.publish('ledger.changed', { Block: block, Changes, More: 0 })
  const late = createReader(first.lastId())
  hub.read(late.reader)
  expect(late.events()).toEqual(['gap 200'])
})

test('a reader gets the types that it asked for; a heartbeat moves its place past the others', async () => {
  const { hub, publish, clock } = newHub()
  const picky = createReader(undefined, new Set(['machine.online'] as const))
  const leave = hub.read(picky.reader)
  publish(5)
  expect(picky.events()).toEqual([])
  await clock.advance(15_000)
  expect(picky.sent.at(-1)).toMatch(/^: heartbeat\nid: [0-9a-f]{8}-5\n\n$/)
  leave()
  expect(clock.pending).toBe(0)
  const again = createReader(picky.lastId())
  hub.read(again.reader)
  expect(again.events()).toEqual([])
  hub.stop()
  expect(again.state.ended).toBe(true)
  expect(clock.pending).toBe(0)
})

test('unknown types are refused by name', async () => {
  const node = await startTestNode()
  cleanups.push(() => node.stop())
  const { status, body } = await ask(node.listener.port, 'GET /api/events?types=gap,nope')
  expect(status).toBe(400)
  expect(JSON.parse(body)).toMatchObject({
    Code: 'http.bad_query',
    Issues: [{ Field: 'types', Value: 'gap,nope' }],
  })
})

test('what the ledger takes, refuses and what becomes of machines is told', async () => {
  const clock = createManualClock(Date.now())
  const node = await startTestNode({ clock })
  cleanups.push(() => node.stop())
  const controller = new AbortController()
  cleanups.push(() => controller.abort())
  let isOpen = false
  const events = node.client.events({
    signal: controller.signal,
    onState: ({ state }) => (isOpen = state === 'open'),
  })
  const told: { type: string; data: unknown }[] = []
  const reading = (async () => {
    for await (const event of events) told.push(event)
  })()
  await eventually(() => expect(isOpen).toBe(true))
  const typesOf = () => told.map(({ type }) => type)

  const other = createLedger({}, { signer: newSigner(), clock })
  other.put('healthcheck', other.self, heartbeatValue(clock.now()))
  other.put(
    'machines',
    '10.1.0.9',
    JSON.stringify({ PeerID: other.self, Hostname: 'nas', Address: '10.1.0.9' }),
  )
  await clock.advance(50)
  const entries = [...other.snapshot().entries()]
  node.ledger.merge(entries, other.self)
  await clock.advance(1000)
  await eventually(() => expect(typesOf()).toEqual(['ledger.changed', 'block.committed', 'machine.online']))
  expect(told[0]?.data).toMatchObject({
    More: 0,
    Changes: [
      { Bucket: 'healthcheck', Key: other.self, Origin: 'remote' },
      { Bucket: 'machines', Key: '10.1.0.9', Origin: 'remote' },
    ],
  })
  expect(told[2]?.data).toEqual({ PeerID: other.self, Hostname: 'nas', Address: '10.1.0.9' })

  const [machine] = entries.filter(({ bucket }) => bucket === 'machines')
  if (machine === undefined) throw new Error('no machine')
  const forged = { ...machine, entry: { ...machine.entry, version: machine.entry.version + 1n } }
  for (let at = 0; at < 500; at++) node.ledger.merge([forged], other.self)
  await eventually(() => expect(typesOf().filter((type) => type === 'ledger.rejected')).toHaveLength(100))
  expect(told.at(-1)?.data).toMatchObject({
    Code: 'BAD_SIG',
    Key: '10.1.0.9',
    Author: other.self,
    Suppressed: 0,
  })
  await clock.advance(1000)
  node.ledger.merge([forged], other.self)
  await eventually(() => expect(told.at(-1)?.data).toMatchObject({ Code: 'BAD_SIG', Suppressed: 400 }))

  await clock.advance(620_000)
  await eventually(() => expect(typesOf()).toContain('machine.offline'))
  controller.abort()
  await reading
  await other.stop()
})

test('a block of many changes is told in one event that counts what it leaves out', async () => {
  const node = await startTestNode()
  cleanups.push(() => node.stop())
  const controller = new AbortController()
  const events = node.client.events({ types: ['ledger.changed'], signal: controller.signal })
  const next = events.next()
  await eventually(async () => expect(await node.client.getMetrics()).toContain('mesh_'))
  const other = createLedger({}, { signer: newSigner() })
  const writes = Array.from({ length: 1000 }, (_, at) => other.put('b', `k${at}`, '1').settled)
  await Promise.all(writes)
  node.ledger.merge([...other.snapshot().entries()], other.self)
  const { value } = await next
  expect(value.data.Changes).toHaveLength(256)
  expect(value.data.More).toBe(744)
  controller.abort()
  await other.stop()
})

test('when there are too many readers, the oldest ones make room', async () => {
  const node = await startTestNode()
  cleanups.push(() => node.stop())
  const controller = new AbortController()
  cleanups.push(() => controller.abort())
  const open = () => fetch(`${node.listener.url}/api/events`, { signal: controller.signal })
  // held: the stream of an answer that nothing refers to any more is closed when it is collected
  const answers: Response[] = []
  for (let reader = 0; reader < EVENT_READERS.local; reader++) answers.push(await open())
  const ended: number[] = []
  for (const [reader, { body }] of answers.entries()) {
    body?.pipeTo(new WritableStream()).catch(() => ended.push(reader))
  }
  const late = await Promise.all([open(), open(), open()])
  expect(new Set([...answers, ...late].map(({ status }) => status))).toEqual(new Set([200]))
  await eventually(() => expect(ended).toHaveLength(3))
  expect(ended.toSorted((a, b) => a - b)).toEqual([0, 1, 2])
})

test('who may use the network is told of when it changes, once for each change', async () => {
  const node = await startTestNode({ components: { access: createFakeAccess() } })
  cleanups.push(() => node.stop())
  const controller = new AbortController()
  const told: unknown[] = []
  const reading = (async () => {
    const events = node.client.events({
      types: ['access.changed'],
      signal: controller.signal,
      onState: () => told.push('open'),
    })
    for await (const { type, data } of events) told.push([type, data])
  })()
  await eventually(() => expect(told).toEqual(['open']))
  for (const state of ['enable', 'enable', 'disable'] as const) await node.client.putPeergate({ state })
  const changed = (Gate: boolean) => ['access.changed', { Gate, Revoked: false }]
  await eventually(() => expect(told.slice(1)).toEqual([changed(true), changed(false)]))
  controller.abort()
  await reading
})

test('what access rules refuse is told, and no more than so often', async () => {
  const rules = createFakeRules()
  const node = await startTestNode({ components: { rules } })
  cleanups.push(() => node.stop())
  const controller = new AbortController()
  const told: unknown[] = []
  const reading = (async () => {
    const types = ['rules.refused'] as const
    const onState = () => told.push('open')
    for await (const { data } of node.client.events({ types, signal: controller.signal, onState })) {
      told.push(data)
    }
  })()
  await eventually(() => expect(told).toEqual(['open']))
  for (let count = 0; count < 1_000; count++) rules.refuse()
  await eventually(() => expect(told[1]).toMatchObject({ From: { Name: 'web-1' }, On: 'tcp 22', Count: 3 }))
  expect(told.length).toBeLessThan(50)
  controller.abort()
  await reading
})
