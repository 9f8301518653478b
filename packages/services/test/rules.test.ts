/** Access rules over what members offer: who is refused, what is told, and what ends when rules change. */
import { createServer, type AddressInfo } from 'node:net'
import { parseCidr, type PeerId } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { createEgress, createServices, type OfferRules, type RuledOffer } from '../src/index.ts'
import { EGRESS_PROTOCOL, LEGACY_EGRESS_PROTOCOL, LEGACY_SERVICE_PROTOCOL } from '../src/protocols.ts'
import { encodeFrame } from '../src/streams/frames.ts'
import { encodeEgressRequest } from '../src/wire/messages.ts'
import { createWorld, type Member } from './world.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Rules that refuse everything that `refuse` is set for. */
function createRules() {
  const listeners = new Set<() => void>()
  const asked: [PeerId, RuledOffer][] = []
  let refuses = (_peer: PeerId, _offer: RuledOffer) => false
  const kept = new Set<PeerId>()
  const rules: OfferRules = {
    refusal(peer, offer) {
      asked.push([peer, offer])
      return refuses(peer, offer) ? 'the rules say no' : undefined
    },
    mayUse: (provider) => !kept.has(provider),
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  return {
    rules,
    asked,
    listeners,
    /** Lets the node use no service of that member. */
    keepFrom(provider: PeerId) {
      kept.add(provider)
      for (const listener of listeners) listener()
    },
    refuse(judge: typeof refuses) {
      refuses = judge
      for (const listener of listeners) listener()
    },
  }
}

async function start() {
  const world = createWorld()
  closers.push(() => world.close())
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const [near, far] = [await world.member(), await world.member()]
  far.components.user.announce()
  await far.components.user.announced(AbortSignal.timeout(5_000))
  const policy = createRules()
  const components = { ...near.components, rules: policy.rules }
  const services = createServices({ services: [{ name: 'echo', address: `127.0.0.1:${port}` }] }, components)
  closers.push(() => services.stop())
  await services.start()
  const egress = createEgress(
    { allow: [parseCidr('127.0.0.0/8')] },
    { ...components, ownAddresses: () => [] },
  )
  closers.push(() => egress.stop())
  await egress.start()
  return { near, far, policy, port, services, egress }
}

/** What one stream of the member brings: the bytes, and whether it has ended. */
async function ask(from: Member, to: Member, protocol: string, bytes: Uint8Array) {
  const stream = await from.network.streams.open(to.id, protocol, { from: 'heard', relayed: true })
  const seen = { text: '', isOver: false }
  stream.onBytes((part) => (seen.text += Buffer.from(part).toString()))
  stream.onEnd(() => (seen.isOver = true))
  stream.send(bytes)
  return seen
}

test('a refused member reads why in the error of its connection, and other services of the node go on', async () => {
  const { far, policy, port } = await start()
  policy.refuse((_peer, offer) => offer.kind === 'service')
  const asking = await far.services({})
  await expect(asking.dial('echo', AbortSignal.timeout(5_000))).rejects.toThrow('the rules say no')
  expect(policy.asked).toEqual([[far.id, { kind: 'service', name: 'echo', protocol: 'tcp', port }]])
})

test('a change of rules ends what it refuses and cuts nothing else', async () => {
  const { near, far, policy, services, port } = await start()
  await services.expose({ name: 'other', address: `127.0.0.1:${port}` })
  const asking = await far.services({})
  const signal = AbortSignal.timeout(5_000)
  const [ended, kept] = [await asking.dial('echo', signal), await asking.dial('other', signal)]
  policy.refuse((_peer, offer) => offer.kind === 'service' && offer.name === 'echo')
  await eventually(() => expect(ended.destroyed).toBe(true))
  kept.write('still here')
  const [bytes] = (await new Promise((resolve) => kept.once('data', (part) => resolve([part])))) as [Buffer]
  expect(bytes.toString()).toBe('still here')
  kept.destroy()
  // a connection that is over asks the rules no more
  await eventually(() => expect(policy.listeners.size).toBe(0))
  expect(near.id).not.toBe(far.id)
})

test('legacy members are held to the rules for services', async () => {
  const { near, far, policy, services } = await start()
  policy.refuse((peer) => peer === far.id)
  const seen = await ask(far, near, LEGACY_SERVICE_PROTOCOL, Buffer.from('hello'))
  await eventually(() => expect(seen.isOver).toBe(true))
  expect(seen.text).toBe('')
  expect(services.status().refusals['legacy.forbidden']).toBe(1)
})

test('egress asks the rules, for legacy members too', async () => {
  const { near, far, policy, port, egress } = await start()
  policy.refuse((_peer, offer) => offer.kind === 'egress')
  const request = encodeFrame(
    encodeEgressRequest({ host: '127.0.0.1', port, entries: far.components.user.entries() }),
  )
  const answered = await ask(far, near, EGRESS_PROTOCOL, request)
  await eventually(() => expect(answered.text).toContain('the rules say no'))
  const legacy = await ask(
    far,
    near,
    LEGACY_EGRESS_PROTOCOL,
    Buffer.from(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`),
  )
  await eventually(() => expect(legacy.isOver).toBe(true))
  expect(egress.status().refusals).toEqual({ 'egress.forbidden': 1, 'legacy.forbidden': 1 })
  expect(egress.status().connections).toBe(0)
})

test('a member that no rule lets this node reach is no provider, whatever it announces', async () => {
  const { near, far } = await start()
  const { rules, keepFrom } = createRules()
  const services = createServices({}, { ...far.components, rules })
  closers.push(() => services.stop())
  await services.start()
  const signal = AbortSignal.timeout(5_000)
  const connection = await services.dial('echo', signal)
  connection.destroy()
  keepFrom(near.id)
  const began = performance.now()
  await expect(services.dial('echo', signal)).rejects.toMatchObject({
    code: 'services.refused',
    message: expect.stringContaining('access rules let this node use no member'),
  })
  expect(performance.now() - began).toBeLessThan(2_000)
})
