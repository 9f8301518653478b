import { systemRandom } from '@mesh/core'
import { encodeToken, generateNetworkConfig } from '@mesh/network'
import { createNatLab, eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { hearEachOther, type Member, startMember } from './member.ts'

const why = whyNoNamespaces(['ip', 'nft', 'sysctl'])

describe.skipIf(why !== undefined)(`members behind NATs${why === undefined ? '' : ` (${why})`}`, () => {
  const token = encodeToken(generateNetworkConfig({}, systemRandom))
  const members: Member[] = []
  let lab: Lab | undefined

  const start = async (host: string, bootstrapPeers: readonly string[] = []) => {
    if (lab === undefined) throw new Error('no lab')
    const seed = Buffer.from(systemRandom.bytes(32)).toString('hex')
    const member = await startMember(lab, host, {
      token,
      seed,
      private: true,
      bootstrapPeers,
      switches: { mdns: false },
    })
    members.push(member)
    return member
  }
  const startThree = async () => {
    const open = await start('open')
    const known = (await open.status()).addresses.filter(
      (address) => address.includes('/5.5.5.1/tcp/') && !address.includes('/ws'),
    )
    expect(known).toHaveLength(1)
    const [a, b] = await Promise.all([start('a', known), start('b', known)])
    return { open, a, b }
  }
  const stopAll = async () => {
    await Promise.all(members.splice(0).map((member) => member.stop()))
    lab?.close()
    lab = undefined
  }
  afterEach(stopAll)

  test('port-preserving NATs: the relayed connection becomes direct by WebRTC', async () => {
    lab = createNatLab('port-preserving')
    const { open, a, b } = await startThree()
    await eventually(
      async () => {
        expect(await a.sees(b)).toMatchObject({ path: 'direct', transport: 'webrtc', member: true })
        expect(await b.sees(a)).toMatchObject({ path: 'direct', transport: 'webrtc', member: true })
      },
      { withinMs: 20_000, everyMs: 200 },
    )
    // without the one that relayed, all goes straight
    await open.stop()
    await hearEachOther(a, b)
  }, 60_000)

  test('fully random NATs: the connection stays relayed and says so', async () => {
    lab = createNatLab('fully-random')
    const { a, b } = await startThree()
    await eventually(
      async () => {
        expect(await a.sees(b)).toMatchObject({ path: 'relayed', member: true })
        expect(await b.sees(a)).toMatchObject({ path: 'relayed', member: true })
      },
      { withinMs: 30_000, everyMs: 200 },
    )
    await hearEachOther(a, b)
    await eventually(
      async () => {
        const words = [(await a.sees(b))?.lastError, (await b.sees(a))?.lastError]
        expect(words).toContain('no direct way through the networks between us: relayed')
      },
      { withinMs: 25_000, everyMs: 500 },
    )
    expect(await a.sees(b)).toMatchObject({ path: 'relayed' })
  }, 90_000)

  test('one behind a NAT and one in the open connect directly, whoever dials first', async () => {
    lab = createNatLab('fully-random')
    lab.run('wan', ['ip', 'addr', 'add', '5.5.5.9/24', 'dev', 'br0'])
    const open = await start('open')
    const known = (await open.status()).addresses.filter((address) =>
      /\/5\.5\.5\.1\/tcp\/\d+\/p2p/.test(address),
    )
    const [a, inTheOpen] = await Promise.all([start('a', known), start('wan', known)])
    await eventually(
      async () => {
        expect(await a.sees(inTheOpen)).toMatchObject({ path: 'direct', transport: 'tcp', member: true })
        expect(await inTheOpen.sees(a)).toMatchObject({ path: 'direct', transport: 'tcp', member: true })
      },
      { withinMs: 25_000, everyMs: 200 },
    )
    await hearEachOther(a, inTheOpen)
  }, 60_000)
})
