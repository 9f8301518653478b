import { systemRandom } from '@mesh/core'
import { encodeToken, generateNetworkConfig } from '@mesh/network'
import { eventually, whyNoNamespaces } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { hearEachOther, type Member, startMember } from './member.ts'
import { createPortMappingLab, type PortMappingLab } from './port-mapping-lab.ts'

/** The port of a VPN's socket, which is mapped beside libp2p's. */
const UDP_PORT = 47_100
const isUdp = (rule: string) => rule.includes(`dport ${UDP_PORT} `)
const why = whyNoNamespaces(['ip', 'nft', 'sysctl', 'miniupnpd'])

describe.skipIf(why !== undefined)(`a router that maps ports${why === undefined ? '' : ` (${why})`}`, () => {
  const token = encodeToken(generateNetworkConfig({}, systemRandom))
  type Setting = PortMappingLab & { readonly members: Member[] }

  const open = async (
    onTestFinished: (close: () => Promise<void>) => void,
    version?: 1 | 2,
  ): Promise<Setting> => {
    const router = { ...(await createPortMappingLab(version)), members: [] as Member[] }
    onTestFinished(async () => {
      await Promise.all(router.members.map((member) => member.stop()))
      await router.close()
    })
    return router
  }
  const start = async (router: Setting, host: string, bootstrapPeers: readonly string[] = []) => {
    const member = await startMember(router.lab, host, {
      token,
      seed: Buffer.from(systemRandom.bytes(32)).toString('hex'),
      bootstrapPeers,
      switches: { mdns: false, dht: false, upnp: host === 'inside' },
      ...(host === 'inside' && { mapsUdp: UDP_PORT }),
    })
    router.members.push(member)
    return member
  }
  /** `x` and `y` know each other before `inside` joins by `x`. */
  const startThree = async (router: Setting) => {
    const x = await start(router, 'x')
    const known = (await x.status()).addresses.filter((address) =>
      /^\/ip4\/5\.5\.5\.1\/tcp\/\d+\/p2p\//.test(address),
    )
    expect(known).toHaveLength(1)
    const [, inside] = await Promise.all([start(router, 'y', known), start(router, 'inside', known)])
    return { x, inside }
  }
  const mappedAddresses = async (member: Member) =>
    (await member.status()).addresses.filter((address) => address.startsWith('/ip4/5.5.5.2/tcp/'))
  const patiently = { withinMs: 25_000, everyMs: 200 }

  // most of the time all wait for the library's search and its pauses
  test.concurrent('a mapped address is told once others reached it, leads in, and is given back at the end', async ({
    onTestFinished,
  }) => {
    const router = await open(onTestFinished)
    const { x, inside } = await startThree(router)
    // those who were connected before the router was found are the only ones to ask
    await eventually(async () => expect(await mappedAddresses(inside)).toHaveLength(2), patiently)
    expect(router.mappings().filter((rule) => !isUdp(rule))).toHaveLength(2)
    await eventually(() => expect(router.mappings().filter(isUdp)).toHaveLength(1), patiently)
    // whoever dialled back kept the connection that stood
    expect(await inside.sees(x)).toMatchObject({ path: 'direct', transport: 'tcp', member: true })
    await hearEachOther(x, inside)

    const z = await start(router, 'z', await mappedAddresses(inside))
    await eventually(
      async () => expect(await z.sees(inside)).toMatchObject({ path: 'direct', member: true }),
      patiently,
    )
    await hearEachOther(z, inside)

    await inside.stop()
    expect(router.mappings()).toEqual([])
  }, 180_000)

  test.concurrent('a router whose address outside changes is asked for it within a minute, and keeps one mapping', async ({
    onTestFinished,
  }) => {
    const router = await open(onTestFinished)
    const { inside } = await startThree(router)
    await eventually(
      () => expect(inside.mapped()).toEqual([{ address: '5.5.5.2', port: UDP_PORT }]),
      patiently,
    )
    router.moveRouter('5.5.6.2')
    await eventually(() => expect(inside.mapped()).toEqual([{ address: '5.5.6.2', port: UDP_PORT }]), {
      withinMs: 70_000,
      everyMs: 200,
    })
    expect(router.mappings().filter(isUdp)).toHaveLength(1)
    await inside.stop()
    expect(router.mappings().filter(isUdp)).toEqual([])
  }, 180_000)

  test.concurrent('a mapped address that nobody reached is not told until somebody does', async ({
    onTestFinished,
  }) => {
    const router = await open(onTestFinished)
    router.refuseMapped(true)
    const { inside } = await startThree(router)
    await eventually(() => expect(router.mappings()).toHaveLength(3), patiently)
    // two members tried two ports each
    await eventually(() => expect(router.refused()).toBeGreaterThanOrEqual(4), patiently)
    expect(await mappedAddresses(inside)).toEqual([])

    router.refuseMapped(false)
    const port = /dport (\d+)/.exec(router.mappings().find((rule) => !isUdp(rule)) ?? '')?.[1]
    await start(router, 'z', [`/ip4/5.5.5.2/tcp/${port}/p2p/${inside.self}`])
    await eventually(async () => expect(await mappedAddresses(inside)).toHaveLength(2), patiently)
  }, 180_000)

  test.concurrent('a router of version 1 maps as a newer one does, another port where one is taken, and is left as it was', async ({
    onTestFinished,
  }) => {
    const router = await open(onTestFinished, 1)
    await eventually(() => router.takePort(UDP_PORT), patiently)
    const others = router.mappings()
    expect(others).toHaveLength(1)
    const { inside } = await startThree(router)
    await eventually(async () => expect(await mappedAddresses(inside)).toHaveLength(2), patiently)
    await eventually(() => expect(inside.mapped()).toHaveLength(1), patiently)
    const [{ address, port }] = inside.mapped() as [{ address: string; port: number }]
    expect(address).toBe('5.5.5.2')
    expect(port).toBeGreaterThanOrEqual(49_152)
    expect(router.mappings().filter((rule) => rule.includes(`dport ${port} `))).toHaveLength(1)

    await inside.stop()
    expect(router.mappings()).toEqual(others)
  }, 180_000)
})
