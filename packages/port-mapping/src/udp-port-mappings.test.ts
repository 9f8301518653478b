import { createManualClock, eventually } from '@mesh/testkit'
import { parseIp, silentLogger, systemRandom } from '@mesh/core'
import { expect, test } from 'vitest'
import { MAX_UPNP_ROUTERS, UPNP_RENEW_MS } from './limits.ts'
import type { PortMapping } from './port-mapping.ts'
import { createUdpPortMappings, type PortMappingComponents } from './udp-port-mappings.ts'
import type { UpnpClient } from './upnp/upnp-client.ts'
import type { MappingRouter } from './upnp/upnp-router.ts'

const PORT = 47_100

/** A router of the local network by UPnP; `actions` is what it was asked. */
class FakeRouter {
  readonly host = '127.0.0.1'
  readonly actions: string[] = []
  readonly id: string
  outside: string
  reserved = 50_001
  isThere = true

  constructor(id: string, outside: string) {
    this.id = id
    this.outside = outside
  }

  mapPort() {
    this.actions.push('map')
    if (!this.isThere) return Promise.reject(new Error('no route to host'))
    return Promise.resolve({ address: parseIp(this.outside), port: this.reserved })
  }

  unmapPort() {
    this.actions.push('unmap')
    return Promise.resolve()
  }
}

function setUp() {
  const clock = createManualClock()
  const routers: FakeRouter[] = []
  const told: (readonly PortMapping[])[] = []
  const client = {
    async *findGateways() {
      for (const router of routers) yield router as unknown as MappingRouter
    },
  } as unknown as UpnpClient
  const components = { clock, random: systemRandom, logger: silentLogger } as unknown as PortMappingComponents
  const mappings = createUdpPortMappings(components, { client, defaultRouter: () => undefined })
  const search = async () => {
    for await (const _router of mappings.client.findGateways()) {
      // those that are found are asked
    }
  }
  mappings.map(PORT, (mapped) => told.push(mapped))
  /** The renewal, once it is planned. */
  const renew = async (router: FakeRouter) => {
    const asked = router.actions.length
    await eventually(async () => {
      await clock.advance(UPNP_RENEW_MS)
      expect(router.actions.length).toBeGreaterThan(asked)
    })
  }
  return { routers, told, mappings, search, renew }
}

test('another address or port of a router is told with the next renewal', async () => {
  const { routers, told, mappings, search, renew } = setUp()
  const router = new FakeRouter('one', '192.0.2.1')
  routers.push(router)
  await search()
  await eventually(() => expect(told.at(-1)).toEqual([{ address: '192.0.2.1', port: 50_001 }]))
  router.outside = '192.0.2.99'
  await renew(router)
  await eventually(() => expect(told.at(-1)).toEqual([{ address: '192.0.2.99', port: 50_001 }]))
  router.reserved = 50_002
  await renew(router)
  await eventually(() => expect(told.at(-1)).toEqual([{ address: '192.0.2.99', port: 50_002 }]))
  expect(told).toHaveLength(3)
  await mappings.stop()
  expect(router.actions.at(-1)).toBe('unmap')
})

test('the port of a router that is gone is not told any more, and it comes back', async () => {
  const { routers, told, mappings, search, renew } = setUp()
  const router = new FakeRouter('one', '192.0.2.1')
  routers.push(router)
  await search()
  await eventually(() => expect(told).toHaveLength(1))
  router.isThere = false
  await renew(router)
  await eventually(() => expect(told.at(-1)).toEqual([]))
  router.isThere = true
  await renew(router)
  await eventually(() => expect(told.at(-1)).toHaveLength(1))
  await mappings.stop()
})

test('routers that are gone make room for those of another network', async () => {
  const { routers, told, mappings, search, renew } = setUp()
  const gone = Array.from({ length: MAX_UPNP_ROUTERS }, (_, at) => new FakeRouter(`old ${at}`, '192.0.2.1'))
  for (const router of gone) router.isThere = false
  routers.push(...gone)
  await search()
  const [last] = gone.slice(-1)
  if (last === undefined) throw new Error('no router')
  await eventually(() => expect(last.actions).toHaveLength(1))
  await renew(last)
  await renew(last)
  routers.splice(0, routers.length, new FakeRouter('new', '198.51.100.7'))
  await eventually(async () => {
    await search()
    expect(told.at(-1)).toEqual([{ address: '198.51.100.7', port: 50_001 }])
  })
  await mappings.stop()
})
