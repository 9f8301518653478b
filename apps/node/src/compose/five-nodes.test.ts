/**
 * Five nodes with everything between the ledger and libp2p real, over memory: one is shut out, and within seconds
 * nobody takes its gossip, streams or relayed connections, while the others go on.
 */
import { BUCKETS, type PeerId, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { canonicalBytes, createLedger, defaultPolicies, type KeyedEntry, type Ledger } from '@mesh/ledger'
import { createNodeSigner } from '@mesh/ledger/node'
import { generateNetworkConfig, networkId } from '@mesh/network'
import type { ByteStream } from '@mesh/p2p'
import { createMemoryNode, type P2pMember } from '@mesh/p2p/testing'
import { createReplicator, type Replicator } from '@mesh/replication'
import { eventually } from '@mesh/testkit'
import { createTrust, type Trust } from '@mesh/trust'
import { checkPolicy } from '@mesh/trust/rules'
import { afterEach, expect, test } from 'vitest'

const WITHIN = { withinMs: 5_000, everyMs: 20 }
const START = { withinMs: 20_000, everyMs: 50 }
const ECHO = '/mesh/echo/1'
const LEGACY_ECHO = '/edgevpn/echo/0.1'
const config = generateNetworkConfig({}, systemRandom)
const adminSeed = systemRandom.bytes(32)
const admin = createNodeSigner(adminSeed)

interface TestNode {
  readonly id: PeerId
  readonly p2p: P2pMember
  readonly ledger: Ledger
  readonly replicator: Replicator
  readonly trust: Trust | undefined
  readonly inbound: ByteStream[]
}

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

interface NodeOptions {
  readonly holdsKey?: boolean
  readonly bootstrapPeers?: readonly string[]
  /** Whether the network's administrators are known to it; true by default. */
  readonly administered?: boolean
}

async function startNode({
  holdsKey,
  bootstrapPeers = [],
  administered = true,
}: NodeOptions): Promise<TestNode> {
  const seed = systemRandom.bytes(32)
  const signer = createNodeSigner(seed)
  const parts = { clock: systemClock, random: systemRandom }
  const trust = administered
    ? createTrust(
        { self: signer.peerId, network: networkId(config), administrators: [admin.peerId] },
        {
          ...parts,
          signer,
          readAdminSeed: () => (holdsKey ? adminSeed : undefined),
          checkPolicy,
          log: silentLogger,
        },
      )
    : undefined
  ends.push(() => trust?.stop())
  const ledger = createLedger(
    { policies: { ...defaultPolicies, ...trust?.policies } },
    { signer, ...(trust !== undefined && { admits: (...asked) => trust.admits(...asked) }) },
  )
  ledger.holdClaims()
  trust?.attachLedger(ledger)
  ends.push(() => ledger.stop())
  const p2p = await createMemoryNode(
    { network: config, identity: seed, bootstrapPeers, ...(trust !== undefined && { admission: trust }) },
    { ...parts, logger: silentLogger },
  )
  ends.push(() => p2p.stop())
  const { topic, channels, publicTopic } = p2p
  const replicator = createReplicator({}, { ledger, topic, channels, ...parts, logger: silentLogger })
  ends.push(() => replicator.stop())
  await replicator.start()
  await trust?.start({ channels, publicTopic, topicPeers: () => topic.peers() }, (entries) =>
    replicator.publish(entries),
  )
  const inbound: ByteStream[] = []
  for (const [protocol, from] of [
    [ECHO, 'proven'],
    [LEGACY_ECHO, 'heard'],
  ] as const) {
    await p2p.streams.handle(protocol, { from, maxPerPeer: 8, relayed: true }, (stream) => {
      inbound.push(stream)
      stream.onBytes((bytes) => void stream.send(bytes))
    })
  }
  return { id: signer.peerId, p2p, ledger, replicator, trust, inbound }
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('is not there')
  return value
}

/** Resolves when what was sent has come back. */
async function echo(from: TestNode, to: TestNode, protocol = ECHO): Promise<ByteStream> {
  const kind = protocol === ECHO ? 'proven' : 'heard'
  const stream = await from.p2p.streams.open(to.id, protocol, { from: kind, relayed: true })
  await new Promise<void>((resolve, reject) => {
    stream.onBytes(() => resolve())
    stream.onEnd((error) => reject(error ?? new Error('ended')))
    stream.send(Uint8Array.of(1))
  })
  return stream
}

function holds({ ledger }: TestNode, key: string): boolean {
  return ledger.snapshot().getLive('notes', key) !== undefined
}

async function hears(nodes: readonly TestNode[], writer: TestNode, key: string): Promise<void> {
  await writer.ledger.put('notes', key, '1').settled
  await eventually(() => expect(nodes.filter((each) => !holds(each, key))).toEqual([]), WITHIN)
}

async function startFive() {
  const home = await startNode({ holdsKey: true })
  const others: TestNode[] = []
  for (let at = 0; at < 4; at++) others.push(await startNode({ bootstrapPeers: home.p2p.addresses() }))
  const administration = required(home.trust?.administration)
  await eventually(() => expect(home.trust?.waiting()).toHaveLength(4), START)
  expect(others.every(({ ledger }) => ledger.snapshot().count(BUCKETS.admission) <= 1)).toBe(true)
  for (const { id } of others) administration.setMember(id, 'admitted')
  const all = [home, ...others]
  await eventually(
    () =>
      expect(
        all.map(
          ({ p2p }) => p2p.topic.peers().length >= 1 && p2p.peers().filter(({ member }) => member).length,
        ),
      ).toEqual([4, 4, 4, 4, 4]),
    START,
  )
  return { home, others, all, administration }
}

test('one of five is shut out, within seconds and for good, and the others go on', async () => {
  const { home, others, all, administration } = await startFive()
  const [bad, ...rest] = others as [TestNode, TestNode, TestNode, TestNode]
  const good = [home, ...rest]
  await hears(all, bad, 'before')
  const streams = await Promise.all(good.map((each) => echo(bad, each)))
  const legacy = await echo(bad, home, LEGACY_ECHO)
  const kept = await echo(rest[0], home)
  const ended: unknown[] = []
  for (const stream of [...streams, legacy]) stream.onEnd(() => ended.push(stream))
  let keptEnded = false
  kept.onEnd(() => (keptEnded = true))
  const stale = bad.ledger.snapshot().get(BUCKETS.admission, `${admin.peerId}/member/${bad.id}`)

  administration.setMember(bad.id, 'revoked')
  await eventually(() => {
    expect(good.every(({ trust }) => trust?.isBanned(bad.id))).toBe(true)
    expect(ended).toHaveLength(5)
    for (const { p2p } of good) expect(p2p.peer(bad.id)?.connected ?? false).toBe(false)
  }, WITHIN)
  expect(keptEnded).toBe(false)
  // it was told, and can say so to whoever runs it
  expect(bad.trust?.isBanned(bad.id)).toBe(true)

  // it goes on as if nothing were, and reaches nobody
  const outcomes = await Promise.allSettled(good.map((each) => echo(bad, each)))
  expect(outcomes.map(({ status }) => status)).toEqual(good.map(() => 'rejected'))
  void bad.ledger.put('notes', 'after', '1')
  const entry = required(stale)
  const order: KeyedEntry = { bucket: BUCKETS.admission, key: `${admin.peerId}/member/${bad.id}`, entry }
  for (const { ledger } of good)
    expect(ledger.merge([order], bad.id).rejected).toMatchObject([{ code: 'ROLLBACK' }])
  const forged = forge(bad, entry)
  for (const { ledger } of good) expect(ledger.merge([forged], bad.id).accepted).toBe(0)
  await hears(good, rest[1], 'later')
  await echo(rest[2], rest[0])
  expect(good.some((each) => holds(each, 'after'))).toBe(false)
  expect(good.every(({ p2p }) => p2p.peer(bad.id)?.member !== true)).toBe(true)
}, 60_000)

test('what a member without the rules passes on for somebody who is not in is refused by the author', async () => {
  const home = await startNode({ holdsKey: true })
  const lax = await startNode({ bootstrapPeers: home.p2p.addresses(), administered: false })
  const outsider = await startNode({ bootstrapPeers: lax.p2p.addresses(), administered: false })
  const administration = required(home.trust?.administration)
  administration.setMember(lax.id, 'admitted')
  await eventually(() => expect(home.p2p.topic.peers()).toContain(lax.id), START)
  await hears([lax, home], lax, 'from a member')
  await hears([lax], outsider, 'from outside')
  await eventually(
    () =>
      expect(
        home.ledger.rejections().GATED ?? home.p2p.refusals()['topic.not_admitted'] ?? 0,
      ).toBeGreaterThan(0),
    START,
  )
  // over the member, which would carry anybody's circuits
  const relayed = lax.p2p.addresses()[0] ?? ''
  expect(relayed).not.toBe('')
  const outcome = await echo(outsider, home).then(
    () => 'open',
    () => 'refused',
  )
  expect(outcome).toBe('refused')
  expect(holds(home, 'from outside')).toBe(false)
  expect(home.inbound.map(({ peer }) => peer)).not.toContain(outsider.id)
}, 60_000)

/** A statement that it is let in again, newer than the revocation, signed by itself in the administrator's name. */
function forge(bad: TestNode, { value }: { readonly value: string }): KeyedEntry {
  const signer = createNodeSigner(systemRandom.bytes(32))
  const now = BigInt(Math.floor(systemClock.now())) * 1_000_000n
  const entry = {
    value,
    owner: admin.peerId,
    version: now,
    updatedAt: Math.floor(systemClock.now() / 1000),
    deleted: false,
    sig: null,
  }
  const unsigned = { bucket: BUCKETS.admission, key: `${admin.peerId}/member/${bad.id}`, entry }
  return { ...unsigned, entry: { ...entry, sig: signer.sign(canonicalBytes(unsigned).slice()) } }
}
