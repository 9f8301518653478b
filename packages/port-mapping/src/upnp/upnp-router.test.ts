/** Routers of version 1, which are told what port to map, and refuse where another has it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemRandom } from '@mesh/core'
import { createManualClock, eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import {
  MAX_UPNP_ATTEMPTS,
  UPNP_ANSWER_MS,
  UPNP_ASKS,
  UPNP_FAILURES,
  UPNP_LEASE_S,
  UPNP_TCP_RENEW_MS,
} from '../limits.ts'
import type { WanConnection } from './upnp-messages.ts'
import { UpnpRouter } from './upnp-router.ts'

const PORT = 4_700
const [CONFLICT, SAME_PORT, PERMANENT] = [718, 724, 725]

const LATE = { status: 'rejected', reason: { message: 'the router does not answer' } }

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

interface Asked {
  readonly action: string
  readonly external: number
  readonly leaseS: number
  readonly host: string
}

/** A router whose answer to AddPortMapping is a number by which it refuses, none, or 'silence'. */
async function openRouter(
  onAdd: (asked: Asked) => number | undefined | 'silence',
  service: WanConnection = 'urn:schemas-upnp-org:service:WANIPConnection:1',
) {
  const asked: Asked[] = []
  const services = new Set<string>()
  const says = { address: '203.0.113.9' }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (block) => (body += String(block)))
    request.on('end', () => {
      const value = (name: string) => new RegExp(`<${name}>([^<]*)<`).exec(body)?.[1] ?? ''
      const [, type = '', action = ''] = /^"(.*)#(.*)"$/.exec(String(request.headers['soapaction'])) ?? []
      services.add(type)
      const [external, leaseS] = [Number(value('NewExternalPort')), Number(value('NewLeaseDuration'))]
      const one = { action, external, leaseS, host: value('NewInternalClient') }
      asked.push(one)
      const inner = `<NewExternalIPAddress>${says.address}</NewExternalIPAddress>`
      const fault = action === 'AddPortMapping' ? onAdd(one) : undefined
      if (fault === 'silence') return
      if (fault !== undefined) response.writeHead(500)
      response.end(`<R>${inner}<errorCode>${fault}</errorCode></R>`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/control`)
  const clock = createManualClock()
  const router = new UpnpRouter({ url, service }, { clock, random: systemRandom })
  const wish = { protocol: 'UDP', port: PORT, host: '192.168.1.2', external: PORT } as const
  const of = (action: string) => asked.filter((one) => one.action === action)
  const added = () => of('AddPortMapping').map(({ external, leaseS }) => ({ external, leaseS }))
  const deleted = () => of('DeletePortMapping').map(({ external }) => external)
  return { router, clock, says, wish, asked, services, added, deleted }
}

test.each([
  'urn:schemas-upnp-org:service:WANIPConnection:1',
  'urn:schemas-upnp-org:service:WANPPPConnection:1',
] as const)('a router of version 1 is asked as %s for the port that it is told', async (service) => {
  const { router, wish, services, asked, deleted } = await openRouter(() => undefined, service)
  expect(await router.mapPort(wish)).toEqual({ address: '203.0.113.9', port: PORT })
  await router.unmapPort('UDP', PORT)
  expect(asked.map(({ action }) => action)).toEqual([
    'AddPortMapping',
    'GetExternalIPAddress',
    'DeletePortMapping',
  ])
  expect(deleted()).toEqual([PORT])
  expect([...services]).toEqual([service])
})

test('a port that another has is left to it, and the one that was drawn is kept from then on', async () => {
  const { router, wish, added, deleted } = await openRouter(({ external }) =>
    external === PORT ? CONFLICT : undefined,
  )
  const { port } = await router.mapPort(wish)
  expect(port).toBeGreaterThanOrEqual(49_152)
  expect((await router.mapPort(wish)).port).toBe(port)
  expect(added().map(({ external }) => external)).toEqual([PORT, port, port])
  await router.unmapPort('UDP', PORT)
  expect(deleted()).toEqual([port])
})

test('a router that refuses every port is asked few times for one, and that counts as one failure', async () => {
  const { router, wish, added, deleted } = await openRouter(() => CONFLICT)
  for (let time = 1; time <= UPNP_FAILURES; time++) {
    expect(router.isGone).toBe(false)
    await expect(router.mapPort(wish)).rejects.toThrow('the router refused (718)')
    expect(added()).toHaveLength(time * MAX_UPNP_ATTEMPTS)
  }
  expect(router.isGone).toBe(true)
  router.foundAgain({
    url: new URL(`http://127.0.0.1:${router.port}/control`),
    service: 'urn:schemas-upnp-org:service:WANIPConnection:1',
  })
  // what others have is not given back
  await router.stop()
  expect(deleted()).toEqual([])
})

test('a router that leases nothing maps for good, until the end', async () => {
  const { router, wish, added, deleted } = await openRouter(({ leaseS }) =>
    leaseS === 0 ? undefined : PERMANENT,
  )
  await router.mapPort(wish)
  expect(added()).toEqual([
    { external: PORT, leaseS: UPNP_LEASE_S },
    { external: PORT, leaseS: 0 },
  ])
  await router.stop()
  expect(deleted()).toEqual([PORT])
})

test('what a router mapped is given back, though nobody was told: it had no address, or its answer was lost', async () => {
  const lost = await openRouter(() => 'silence')
  const waiting = Promise.allSettled([lost.router.mapPort(lost.wish)])
  await eventually(() => expect(lost.added()).toHaveLength(1))
  await lost.clock.advance(UPNP_ANSWER_MS)
  expect(await waiting).toMatchObject([LATE])
  await lost.router.stop()
  expect(lost.deleted()).toEqual([PORT])

  const { router, says, wish, deleted } = await openRouter(() => undefined)
  says.address = '0.0.0.0'
  await expect(router.map(PORT, wish.host, { protocol: 'UDP' })).rejects.toThrow('no address outside')
  await router.stop()
  expect(deleted()).toEqual([PORT])
})

test('a router that maps ports to the same ones alone is asked for that', async () => {
  const { router, wish, added } = await openRouter(({ external }) =>
    external === PORT ? undefined : SAME_PORT,
  )
  expect((await router.mapPort({ ...wish, external: 50_000 })).port).toBe(PORT)
  expect(added().map(({ external }) => external)).toEqual([50_000, PORT])
})

test('a router that refuses slowly has the time of one action for all', async () => {
  const { router, clock, wish, added } = await openRouter(({ external }) =>
    external === PORT ? CONFLICT : 'silence',
  )
  const waiting = Promise.allSettled([router.mapPort(wish)])
  await clock.advance(UPNP_ANSWER_MS - 1)
  await eventually(() => expect(added()).toHaveLength(2))
  await clock.advance(1)
  expect(await waiting).toMatchObject([LATE])
})

test('all that is asked anew is within the rate', async () => {
  const { router, wish, asked } = await openRouter(() => CONFLICT)
  const wishes = Array.from({ length: 30 }, (_, at) => ({ ...wish, port: PORT + at, external: PORT + at }))
  await Promise.allSettled(wishes.map((one) => router.mapPort(one)))
  expect(asked.length).toBeLessThanOrEqual(UPNP_ASKS.burst)
})

test('one port at two addresses of a machine is two mappings, and both are renewed', async () => {
  const { router, clock, asked, deleted } = await openRouter(({ external, host }) =>
    external === PORT && host !== '192.168.1.2' ? CONFLICT : undefined,
  )
  const first = await router.map(PORT, '192.168.1.2')
  const second = await router.map(PORT, '192.168.1.3')
  expect(second.externalPort).not.toBe(first.externalPort)
  const renewed = () =>
    asked
      .slice(5)
      .flatMap(({ action, host, external }) => (action === 'AddPortMapping' ? [`${host} ${external}`] : []))
  await clock.advance(UPNP_TCP_RENEW_MS)
  await eventually(() =>
    expect(renewed().toSorted()).toEqual([`192.168.1.2 ${PORT}`, `192.168.1.3 ${second.externalPort}`]),
  )
  await router.stop()
  expect(new Set(deleted())).toEqual(new Set([PORT, second.externalPort]))
})
