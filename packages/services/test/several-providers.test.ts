/** One name that several members offer: who is found, who is used, and what happens when one of them goes. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { BUCKETS, heartbeatValue, providerKey, systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { findProviders } from '../src/find-provider.ts'
import type { Services } from '../src/index.ts'
import { createWorld, type Member, type World } from './world.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A target that says its name to each connection, and keeps it open. */
async function target(name: string) {
  const server = createServer((socket) => {
    socket.on('error', () => {}).write(name)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

interface Provider {
  readonly member: Member
  readonly services: Services
  readonly port: number
  readonly close: () => void
}

async function provide(made: World, name: string): Promise<Provider> {
  const member = await made.member()
  const { server, port } = await target(name)
  const services = await member.services({ services: [{ name: 'db', address: `:${port}` }] })
  await eventually(() => expect(services.status().services[0]?.state).toBe('announced'))
  return { member, services, port, close: () => server.close() }
}

async function createTrio(isSticky = true) {
  const made = createWorld()
  closers.push(() => made.close())
  const [a, b, user] = [await provide(made, 'a'), await provide(made, 'b'), await made.member()]
  const asking = await user.services({ isSticky, connections: [{ name: 'db', address: '127.0.0.1:0' }] })
  const port = Number(/:(\d+)$/.exec(asking.status().connections[0]?.listen ?? '')?.[1])
  return { made, a, b, user, asking, port }
}

/** What the provider says first; the connection stays open. */
async function ask(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  closers.push(() => socket.destroy())
  return await firstOf(socket)
}

async function firstOf(connection: Duplex): Promise<string> {
  const [bytes] = await once(connection, 'data')
  return String(bytes)
}

const never = new AbortController().signal

test('the first one owns the key, the second is told beside it; when the first goes, the second takes the key', async () => {
  const { a, b, user } = await createTrio()
  const ownerOf = () => user.ledger.snapshot().getLive(BUCKETS.services, 'db')?.owner
  const key = providerKey({ bucket: BUCKETS.services, name: 'db', peer: b.member.id })
  expect(ownerOf()).toBe(a.member.id)
  expect(user.ledger.snapshot().getLive(BUCKETS.providers, key)?.owner).toBe(b.member.id)
  expect(findProviders('db', user.components).allowed).toEqual([a.member.id, b.member.id])
  expect(b.services.status().services[0]).toMatchObject({ state: 'announced', owner: a.member.id })
  expect(b.services.problems()).toEqual([])
  await a.services.withdraw('db')
  // replication announces again what is missing; here the test does
  b.member.ledger.put(BUCKETS.services, 'db', JSON.stringify({ PeerID: b.member.id, Name: 'db' }))
  await eventually(() => expect(ownerOf()).toBe(b.member.id))
  await eventually(() => expect(user.ledger.snapshot().getLive(BUCKETS.providers, key)).toBeUndefined())
  expect(b.services.status().services[0]).toMatchObject({ state: 'announced', owner: undefined })
})

test('connections stay with one provider, and go to the other when that one cannot be reached', async () => {
  const { made, a, b, asking, port } = await createTrio()
  const first = await ask(port)
  for (let at = 0; at < 5; at++) expect(await ask(port)).toBe(first)
  const [gone, other] = first === 'a' ? [a, 'b'] : [b, 'a']
  expect(asking.status().connections[0]).toMatchObject({ provider: gone.member.id, providers: 2 })
  made.setReachable(gone.member, false)
  expect(await ask(port)).toBe(other)
  made.setReachable(gone.member, true)
  // it does not go back
  expect(await ask(port)).toBe(other)
})

test('a provider that refuses gives way within the same connection', async () => {
  const { a, b, port } = await createTrio()
  const first = await ask(port)
  const [gone, other] = first === 'a' ? [a, 'b'] : [b, 'a']
  gone.close()
  expect(await ask(port)).toBe(other)
})

test('without stickiness new connections spread over providers that are equally near', async () => {
  const { port } = await createTrio(false)
  const answers = []
  for (let at = 0; at < 6; at++) answers.push(await ask(port))
  expect(answers.filter((answer) => answer === 'a')).toHaveLength(3)
})

test('programs that dial stay with one provider, too, and a provider dials itself', async () => {
  const { made, a, b, asking } = await createTrio()
  const first = await firstOf(await asking.dial('db', never))
  for (let at = 0; at < 4; at++) expect(await firstOf(await asking.dial('db', never))).toBe(first)
  made.setReachable(first === 'a' ? a.member : b.member, false)
  expect(await firstOf(await asking.dial('db', never))).toBe(first === 'a' ? 'b' : 'a')
  expect(await firstOf(await b.services.dial('db', never))).toBe('b')
})

test('only what a live member says of itself makes it a provider', async () => {
  const { a, b, user } = await createTrio()
  const { ledger } = user
  const forged = providerKey({ bucket: BUCKETS.services, name: 'db', peer: b.member.id })
  expect(() => ledger.put(BUCKETS.providers, `${forged} ${b.member.id}`, '{}')).toThrow('must name this node')
  void ledger.put(BUCKETS.providers, `services db x ${user.id}`, '{}').settled
  expect(findProviders('db', user.components).allowed).toEqual([a.member.id, b.member.id])
  await b.member.ledger.put('healthcheck', b.member.id, heartbeatValue(systemClock.now() - 3_600_000)).settled
  expect(findProviders('db', user.components).allowed).toEqual([a.member.id])
})
