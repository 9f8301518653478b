/**
 * Real peers that misbehave: a member that sends bad entries over the wire, and a stranger without the token on
 * every protocol of ours. What they send is refused, counted by reason, and told in events and `/metrics`.
 */
import { gzipSync } from 'node:zlib'
import { identify } from '@libp2p/identify'
import type { Connection } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import type { ApiEvent } from '@mesh/api-contract'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { createSigner, encodeBlock, type KeyedEntry } from '@mesh/ledger'
import { parseToken } from '@mesh/network'
import { createP2pNode } from '@mesh/p2p/node'
import { eventually } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { expect, test } from 'vitest'
import { signEntry } from '../attack/gossip.ts'
import { createMesh, makeToken, type NodeProcess } from '../../apps/node/test/harness.ts'
import { createCleanUps } from '../../apps/node/test/suite.ts'

const cleanUps = createCleanUps()

async function startVictim(): Promise<{ victim: NodeProcess; token: string; events: ApiEvent[] }> {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  const token = makeToken()
  const victim = await mesh.start({ token })
  const stop = new AbortController()
  cleanUps.push(() => stop.abort())
  const events: ApiEvent[] = []
  const watch = async () => {
    for await (const event of victim.client.events({ signal: stop.signal })) events.push(event)
  }
  watch().catch(() => {})
  return { victim, token, events }
}

/** A member with the token whose room takes whatever bytes it is given. */
async function joinAsMember(victim: NodeProcess, token: string) {
  const seed = systemRandom.bytes(32)
  const node = await createP2pNode(
    {
      network: parseToken(token),
      identity: seed,
      listen: ['/ip4/127.0.0.1/tcp/0'],
      private: true,
      switches: { mdns: false, dht: false, ws: false, webrtc: false, webrtcDirect: false },
      bootstrapPeers: victim.addresses.filter((address) => !address.includes('/ws')),
    },
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  cleanUps.push(() => node.stop())
  await eventually(() => expect(node.topic.peers()).toContain(victim.id), { withinMs: 15_000 })
  const signer = createSigner(seed)
  const send = async (json: Uint8Array) => {
    expect(await node.topic.publish(new Uint8Array(gzipSync(json)))).toBe(1)
  }
  return { signer, send, sendEntries: (...entries: KeyedEntry[]) => send(encodeBlock(entries)) }
}

const nowNs = () => BigInt(Math.floor(systemClock.now())) * 1_000_000n

async function metric(node: NodeProcess, name: string, code: string): Promise<number> {
  const text = await node.client.getMetrics({})
  return Number(new RegExp(`^${name}\\{[^}]*code="${code}"[^}]*\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
}

test('bad entries of a member are refused by reason, told as events, and hold up nothing good', async () => {
  const { victim, token, events } = await startVictim()
  // the victim lives and owns a name
  await eventually(
    async () => expect(await victim.client.getBucket({ bucket: 'healthcheck' })).toHaveProperty(victim.id),
    {
      withinMs: 20_000,
    },
  )
  await victim.client.createDns({ body: { Regex: '^mine$', Records: { A: '10.1.0.1' } }, wait: '20s' })
  const { signer, send, sendEntries } = await joinAsMember(victim, token)

  const rejected = async (key: string, code: string) => {
    await eventually(() => {
      const found = events.find((event) => event.type === 'ledger.rejected' && event.data.Key === key)
      expect(found?.data).toMatchObject({ Code: code, Author: signer.peerId })
    })
    expect(await metric(victim, 'mesh_ledger_rejected_total', code)).toBeGreaterThan(0)
  }
  const good = signEntry(signer, ['notes', 'good', 'kept'])
  const forged = signEntry(signer, ['machines', '10.1.0.66', { PeerID: signer.peerId }])
  const flipped = Uint8Array.from(forged.entry.sig ?? [], (byte, at) => (at === 5 ? byte ^ 1 : byte))
  await sendEntries(good, { ...forged, entry: { ...forged.entry, sig: flipped } })
  await rejected('10.1.0.66', 'BAD_SIG')
  await eventually(async () =>
    expect(await victim.client.getEntry({ bucket: 'notes', key: 'good' })).toBe('kept'),
  )

  await sendEntries(signEntry(signer, ['dns', '^mine$', { 1: '10.6.6.6' }]))
  await rejected('^mine$', 'NOT_OWNER')
  await sendEntries(signEntry(signer, ['services', 'web', { PeerID: victim.id, Name: 'web' }]))
  await rejected('web', 'OWNER_MISMATCH')
  await sendEntries(
    signEntry(signer, ['egress', signer.peerId, 'ok'], { version: nowNs() + 3_600_000_000_000n }),
  )
  await rejected(signer.peerId, 'FUTURE')
  await sendEntries(
    signEntry(signer, ['files', 'large', { PeerID: signer.peerId, Name: 'x'.repeat(70_000) }]),
  )
  await rejected('large', 'TOO_LARGE')
  const [before, tombstone] = [
    signEntry(signer, ['files', 'gone', { PeerID: signer.peerId, Name: 'gone' }]),
    signEntry(signer, ['files', 'gone', ''], { deleted: true, version: nowNs() + 1_000_000n }),
  ]
  await sendEntries(before)
  await eventually(async () =>
    expect(await victim.client.getBucket({ bucket: 'files' })).toHaveProperty('gone'),
  )
  await sendEntries(tombstone)
  await eventually(async () =>
    expect(await victim.client.getBucket({ bucket: 'files' })).not.toHaveProperty('gone'),
  )
  await sendEntries(before)
  await rejected('gone', 'RECLAIM_STALE')

  // one that is no entry at all, between two good ones
  const [first, last] = [
    signEntry(signer, ['notes', 'a-first', '1']),
    signEntry(signer, ['notes', 'z-last', '2']),
  ]
  const json = new TextDecoder()
    .decode(encodeBlock([first, last]))
    .replace('"z-last":', '"middle":7,"z-last":')
  await send(new TextEncoder().encode(json))
  await rejected('middle', 'MALFORMED')
  await eventually(async () => {
    expect(await victim.client.getBucket({ bucket: 'notes' })).toEqual({
      good: 'kept',
      'a-first': '1',
      'z-last': '2',
    })
  })
  expect(await victim.client.listDns({})).toEqual([{ Regex: '^mine$', Records: { A: '10.1.0.1' } }])
})

test('a stranger without the token gets nothing on any protocol of ours', async () => {
  const { victim, events } = await startVictim()
  const { Protocols } = await victim.client.getVersion({})
  const ours = Protocols.filter((protocol) => protocol.startsWith('/mesh/'))
  expect(ours).toEqual(expect.arrayContaining(['/mesh/member/1', '/mesh/peers/1', '/mesh/replication/1']))
  const stranger = await createLibp2p({
    addresses: { listen: [] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify({ runOnConnectionOpen: false }) },
  })
  cleanUps.push(() => stranger.stop())
  const address = multiaddr(victim.addresses.find((each) => !each.includes('/ws')))
  const connection = await stranger.dial(address)
  const { protocols } = await stranger.services.identify.identify(connection)
  expect(ours.filter((protocol) => !protocols.includes(protocol))).toEqual([])
  for (const protocol of ours) {
    // the member protocol shows its nonce; nothing else answers a byte
    expect(await answerTo(connection, protocol)).toBeLessThan(protocol === '/mesh/member/1' ? 200 : 1)
    await eventually(() => {
      const told = events.filter((event) => event.type === 'peer.refused')
      expect(told.map(({ data }) => data.Protocol)).toContain(protocol)
      expect(told[0]?.data.PeerID).toBe(stranger.peerId.toString())
    })
  }
  expect(await metric(victim, 'mesh_p2p_refused_total', 'channel.not_member')).toBeGreaterThanOrEqual(
    ours.length - 1,
  )
  expect((await victim.client.getSummary({})).OnChainNodes).toBe(0)
})

/** Bytes that come back for rubbish until the stream is reset. */
async function answerTo(connection: Connection, protocol: string): Promise<number> {
  // a stream that is refused at once may break before its protocol is agreed on
  const stream = await connection.newStream(protocol).catch(() => undefined)
  if (stream === undefined) return 0
  let received = 0
  const closed = new Promise((resolve) => stream.addEventListener('close', resolve))
  stream.addEventListener('message', ({ data }) => (received += data.byteLength))
  stream.send(Uint8Array.from({ length: 100 }, (_, at) => (at === 0 ? 99 : at)))
  await closed
  return received
}
