/** Streams beside libp2p's between two machines, while firewalls close the ways one after another. */
import { systemRandom } from '@mesh/core'
import { bridge, createLab, eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { encodeToken, generateNetworkConfig } from '@mesh/network'
import { type Member, startMember } from './member.ts'

const why = whyNoNamespaces(['ip', 'nft'])
/** New TCP connections to this host are dropped without an answer; open ones go on. */
const DROP_NEW = `table inet closed {
  chain in {
    type filter hook input priority 0;
    tcp flags & (syn | ack) == syn drop
  }
}`

describe.skipIf(why !== undefined)(`bulk between machines${why === undefined ? '' : ` (${why})`}`, () => {
  const members: Member[] = []
  let lab: Lab

  async function startTwo(): Promise<readonly [Member, Member]> {
    lab = createLab(['switch', 'a', 'b'])
    bridge(lab, 'switch', { a: ['10.77.0.1/24'], b: ['10.77.0.2/24'] })
    const token = encodeToken(generateNetworkConfig({}, systemRandom))
    const start = async (host: string, bootstrapPeers: readonly string[] = []) => {
      const member = await startMember(lab, host, {
        token,
        seed: Buffer.from(systemRandom.bytes(32)).toString('hex'),
        private: true,
        bootstrapPeers,
        listen: ['/ip4/0.0.0.0/tcp/4001'],
        switches: { mdns: false, ws: false, webrtc: false, webrtcDirect: false, relayClient: false },
      })
      members.push(member)
      return member
    }
    const a = await start('a')
    const b = await start('b', [`/ip4/10.77.0.1/tcp/4001/p2p/${a.self}`])
    await eventually(async () => {
      expect(await a.sees(b)).toMatchObject({ member: true })
      expect(await b.sees(a)).toMatchObject({ member: true })
    })
    return [a, b]
  }

  afterEach(async () => {
    await Promise.all(members.splice(0).map((member) => member.stop()))
    lab.close()
  })

  /** Resolves with the transport when it is this one, and every answer came soon. */
  const echoesBy = async (from: Member, to: Member, transport: string, withinMs: number) =>
    await eventually(
      async () => {
        const echoed = await from.echo(to)
        expect(echoed).toMatchObject({ text: 'hello', transport })
        expect(echoed.ms).toBeLessThan(1_000)
        return echoed.transport
      },
      { withinMs, everyMs: 200 },
    )

  test('streams go over TLS both ways', async () => {
    const [a, b] = await startTwo()
    expect(await echoesBy(a, b, 'tcp tls', 5_000)).toBe('tcp tls')
    expect(await echoesBy(b, a, 'tcp tls', 5_000)).toBe('tcp tls')
  }, 60_000)

  test('who cannot be reached connects back; meanwhile libp2p carries the streams', async () => {
    const [a, b] = await startTwo()
    lab.run('b', ['nft', DROP_NEW])
    expect(await echoesBy(a, b, 'libp2p', 2_000)).toBe('libp2p')
    expect(await echoesBy(a, b, 'tcp tls', 20_000)).toBe('tcp tls')
  }, 60_000)

  test('with the port closed on both sides libp2p carries the streams, and nobody waits', async () => {
    const [a, b] = await startTwo()
    for (const host of ['a', 'b']) lab.run(host, ['nft', DROP_NEW])
    for (let at = 0; at < 10; at++) {
      const echoed = await a.echo(b)
      expect(echoed).toMatchObject({ text: 'hello', transport: 'libp2p' })
      expect(echoed.ms).toBeLessThan(1_000)
    }
  }, 60_000)
})
