import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { silentLogger, systemRandom } from '@mesh/core'
import { createManualClock, eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import {
  MAX_UPNP_ROUTERS,
  UPNP_ASKS,
  UPNP_DESCRIBE_AGAIN_MS,
  UPNP_FAILURES,
  UPNP_TCP_RENEW_MS,
} from '../limits.ts'
import { UpnpClient } from './upnp-client.ts'
import type { RouterControl } from './upnp-messages.ts'
import { UpnpRouter } from './upnp-router.ts'
import type { FoundRouter } from './upnp-search.ts'

const WAN = 'urn:schemas-upnp-org:service:WANIPConnection:2'
const DESCRIPTION = `<root><device><serviceList><service><serviceType>${WAN}</serviceType><controlURL>/control</controlURL></service></serviceList></device></root>`
const soap = (inner: string) =>
  `<s:Envelope xmlns:s="s"><s:Body><u:R xmlns:u="u">${inner}</u:R></s:Body></s:Envelope>`

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Routers at all addresses of loopback; `actions` is what each was asked. */
async function openRouters() {
  const actions: string[] = []
  const descriptions: string[] = []
  const says = { port: '50001', address: '203.0.113.9', isThere: true }
  const answer = (response: ServerResponse, action: string) => {
    if (!says.isThere) return response.destroy()
    const inner = action.includes('GetExternal')
      ? `<NewExternalIPAddress>${says.address}</NewExternalIPAddress>`
      : `<NewReservedPort>${says.port}</NewReservedPort>`
    return response.end(soap(inner))
  }
  const server = createServer((request, response) => {
    const { url, headers, socket } = request
    if (url !== '/control') {
      descriptions.push(socket.localAddress ?? '')
      return void response.end(DESCRIPTION)
    }
    const action = String(headers['soapaction']).replace(/^.*#|"$/g, '')
    let body = ''
    request.on('data', (block) => (body += String(block)))
    request.on('end', () => {
      const protocol = /<NewProtocol>(\w+)/.exec(body)?.[1] ?? ''
      actions.push(`${action} ${protocol}`.trim())
      answer(response, action)
    })
  }).listen(0, '0.0.0.0')
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const at = (address: string, path: string) => new URL(`http://${address}:${port}${path}`)
  const control: RouterControl = { url: at('127.0.0.1', '/control'), service: WAN }
  return { actions, descriptions, says, at, control }
}

async function openClient() {
  const routers = await openRouters()
  const clock = createManualClock()
  let found = (_router: FoundRouter) => {}
  const client = new UpnpClient({
    clock,
    logger: silentLogger,
    random: systemRandom,
    network: () => ({ interfaces: {}, defaultRouter: undefined }),
    openSearch({ onRouter }) {
      found = onRouter
      return { ask: () => {}, close: () => {} }
    },
  })
  const ids: string[] = []
  const over = new AbortController()
  closing.push(() => over.abort())
  void (async () => {
    for await (const { id } of client.findGateways({ signal: over.signal })) ids.push(id)
  })()
  const find = (address: string, isDefault = false) =>
    found({ location: routers.at(address, '/description'), isDefault })
  return { ...routers, clock, ids, find }
}

test('of many that call themselves routers few are asked, once, and the default router always', async () => {
  const { descriptions, clock, ids, find } = await openClient()
  const answers = async () => {
    for (let round = 0; round < 100; round++) for (let last = 1; last <= 50; last++) find(`127.0.7.${last}`)
    find('127.0.8.1', true)
  }
  await answers()
  await eventually(() => expect(ids).toContain('127.0.8.1'))
  await eventually(() => expect(ids).toHaveLength(MAX_UPNP_ROUTERS))
  expect(descriptions.length).toBeLessThanOrEqual(MAX_UPNP_ROUTERS + 1)
  expect(new Set(descriptions).size).toBe(descriptions.length)
  const before = descriptions.length
  await answers()
  await clock.advance(UPNP_DESCRIBE_AGAIN_MS)
  await answers()
  await eventually(() => expect(descriptions.length).toBeGreaterThan(before))
  // those that are there have their seats
  expect(new Set(ids).size).toBe(MAX_UPNP_ROUTERS)
})

test('a port is mapped, renewed with the port that the router gave, and given back under its protocol', async () => {
  const { actions, control } = await openRouters()
  const clock = createManualClock()
  const router = new UpnpRouter(control, { clock, random: systemRandom })
  const options = { protocol: 'UDP', signal: AbortSignal.timeout(5_000) } as const
  expect(await router.map(4_700, '192.168.1.2', options)).toEqual({
    externalHost: '203.0.113.9',
    externalPort: 50_001,
    internalHost: '192.168.1.2',
    internalPort: 4_700,
    protocol: 'UDP',
  })
  await router.map(4_700, '192.168.1.2')
  expect(actions.filter((action) => action.startsWith('Add'))).toEqual([
    'AddAnyPortMapping UDP',
    'AddAnyPortMapping TCP',
  ])
  await clock.advance(UPNP_TCP_RENEW_MS)
  await eventually(() => expect(actions.filter((action) => action.startsWith('Add'))).toHaveLength(4))
  await eventually(() => expect(actions.at(-1)).toBe('GetExternalIPAddress'))
  await router.stop({ signal: AbortSignal.timeout(5_000) })
  expect(actions.slice(-2).toSorted()).toEqual(['DeletePortMapping TCP', 'DeletePortMapping UDP'])
  await clock.advance(2 * UPNP_TCP_RENEW_MS)
  expect(actions.slice(-2).toSorted()).toEqual(['DeletePortMapping TCP', 'DeletePortMapping UDP'])
})

test('a router that lies or is gone is asked no more, until it is found again', async () => {
  const { actions, says, control } = await openRouters()
  const router = new UpnpRouter(control, { clock: createManualClock(), random: systemRandom })
  says.address = '127.0.0.1'
  for (let time = 0; time < UPNP_FAILURES; time++)
    await expect(router.externalIp()).rejects.toThrow('no address outside')
  expect(router.isGone).toBe(true)
  await expect(router.externalIp()).rejects.toThrow('does not answer any more')
  expect(actions).toHaveLength(UPNP_FAILURES)
  says.address = '203.0.113.9'
  router.foundAgain(control)
  expect(await router.externalIp()).toBe('203.0.113.9')
})

test('however often libp2p looks, a router is not asked more often than it should be', async () => {
  const { actions, control } = await openRouters()
  const router = new UpnpRouter(control, { clock: createManualClock(), random: systemRandom })
  const asked = await Promise.allSettled(
    Array.from({ length: UPNP_ASKS.burst + 20 }, async () => await router.externalIp()),
  )
  expect(asked.filter(({ status }) => status === 'rejected')).toHaveLength(20)
  expect(actions).toHaveLength(UPNP_ASKS.burst)
})
