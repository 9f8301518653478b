import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Libp2p } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { PeerRecord, RecordEnvelope } from '@libp2p/peer-record'
import { parsePeerId, type PeerId, silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { EXCHANGE_GAP_MS, MAX_PEER_RECORD_BYTES } from './limits.ts'
import { MAX_PEER_ADDRESSES } from '../limits.ts'
import type { Channel, Channels } from '../p2p-node.ts'
import { PeerExchange } from './peer-exchange.ts'
import { isSigned, readRecord } from './peer-records.ts'
import { decodePeers, encodePeers } from './peers-message.ts'

async function createSubject(...addresses: readonly string[]) {
  const privateKey = await generateKeyPair('Ed25519')
  const id = peerIdFromPrivateKey(privateKey)
  const record = new PeerRecord({ peerId: id, multiaddrs: addresses.map((address) => multiaddr(address)) })
  const envelope = await RecordEnvelope.seal(record, privateKey)
  return { id, peer: parsePeerId(id.toString()), peerRecordEnvelope: envelope.marshal() }
}
type Subject = Awaited<ReturnType<typeof createSubject>>

/**
 * A hub whose connections and members the test plays, with one open channel to a member.
 *
 * @param said what the member says
 */
async function createHub(said: readonly Uint8Array[] = []) {
  const clock = createManualClock()
  const [self, leaf] = [
    await createSubject('/ip4/10.0.0.1/tcp/1'),
    await createSubject('/ip4/10.0.0.2/tcp/1'),
  ]
  const connected = new Set<string>()
  const known = new Map<string, Subject>()
  const members = new Set<string>()
  const memberListeners = new Set<(peer: PeerId) => void>()
  const looks = { own: 0 }
  const host = Object.assign(new EventTarget(), {
    peerId: self.id,
    getMultiaddrs() {
      looks.own++
      return []
    },
    getConnections: () => [...connected].map((remotePeer) => ({ remotePeer, status: 'open', direct: true })),
    peerStore: { get: async (id: { toString(): string }) => known.get(id.toString()) },
  })
  const told: number[] = []
  const [refused, found]: string[][] = [[], []]
  let heard = 0
  const pause = Promise.withResolvers<void>()
  const channel: Channel = {
    peer: leaf.peer,
    direct: true,
    async send(message) {
      told.push(decodePeers(message)?.records.length ?? -1)
    },
    async *messages() {
      await pause.promise
      for (const message of said) {
        heard++
        yield message
      }
      await new Promise(() => {})
    },
    async close() {},
    abort() {},
  }
  const channels: Channels = {
    async handle(_protocol, _options, handler) {
      void handler(channel)
    },
    open: () => Promise.reject(new Error('nobody is there')),
    peersWith: () => [],
    onPeerWith: () => () => {},
  }
  const exchange = new PeerExchange(
    {
      host: host as unknown as Libp2p,
      channels,
      membership: {
        isMember: (peer) => members.has(peer),
        onMember(listener) {
          memberListeners.add(listener)
          return () => memberListeners.delete(listener)
        },
      },
      name: undefined,
      found: (find) => found?.push(find.peer),
      book: { noteName() {} },
      refusals: { refuse: (code) => refused?.push(code) },
    },
    { clock, logger: silentLogger },
  )
  await exchange.start()
  const tell = (type: string, detail: object) => host.dispatchEvent(new CustomEvent(type, { detail }))
  return {
    exchange,
    refused,
    found,
    /** How many records each message to the leaf held so far. */
    told,
    /** How many messages it took, and how often it looked at its own addresses. */
    seen: () => ({ heard, own: looks.own }),
    connect(subject: Subject) {
      connected.add(subject.peer)
      const isNews = known.get(subject.peer) !== subject
      known.set(subject.peer, subject)
      if (isNews) tell('peer:update', { peer: subject })
      tell('peer:identify', { peerId: subject.id })
    },
    disconnect(subject: Subject) {
      connected.delete(subject.peer)
      tell('peer:disconnect', subject.id)
    },
    becomesMember({ peer }: Subject) {
      members.add(peer)
      for (const listener of memberListeners) listener(peer)
    },
    /** The member begins to speak, if it did not. */
    async pass() {
      pause.resolve()
      await clock.advance(2 * EXCHANGE_GAP_MS)
    },
  }
}

test('a peer that becomes a member long after it connected is told to the others then', async () => {
  const hub = await createHub()
  const legacy = await createSubject('/ip4/10.0.0.3/tcp/1')
  hub.connect(legacy)
  await hub.pass()
  expect(hub.told).toEqual([0])
  hub.becomesMember(legacy)
  await hub.pass()
  expect(hub.told).toEqual([0, 1])
  hub.becomesMember(legacy)
  await hub.pass()
  expect(hub.told).toEqual([0, 1])
  hub.exchange.stop()
})

test('a member that comes back with the record that the peer store has is told to those who come meanwhile', async () => {
  const hub = await createHub()
  const member = await createSubject('/ip4/10.0.0.3/tcp/1')
  hub.becomesMember(member)
  hub.connect(member)
  hub.disconnect(member)
  await hub.pass()
  expect(hub.told).toEqual([0])
  hub.connect(member)
  await hub.pass()
  expect(hub.told).toEqual([0, 1])
  hub.exchange.stop()
})

test('its own addresses are looked at once a channel, however much the member says', async () => {
  const hub = await createHub(
    Array.from({ length: 9 }, () => encodePeers({ records: [], stunPort: 0, name: undefined })),
  )
  await hub.pass()
  expect(hub.seen()).toEqual({ heard: 9, own: 1 })
  hub.exchange.stop()
})

test('what one subject signed is found again from any peer, and a forged record of other addresses is not', async () => {
  const { peerRecordEnvelope, peer } = await createSubject('/ip4/10.0.0.3/tcp/1')
  const forged = Uint8Array.from(peerRecordEnvelope)
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1
  expect([await isSigned(peerRecordEnvelope), await isSigned(forged)]).toEqual([true, false])
  const records = [forged, peerRecordEnvelope, forged]
  const hub = await createHub([encodePeers({ records, stunPort: 0, name: undefined })])
  await hub.pass()
  // the last one says what the subject signed
  expect([hub.refused, hub.found]).toEqual([['peers.bad_record'], [peer, peer]])
  hub.exchange.stop()
})

test('what a connected peer told itself is no news when others tell it, and is not checked', async () => {
  const [near, far] = [await createSubject('/ip4/10.0.0.3/tcp/1'), await createSubject('/ip4/10.0.0.4/tcp/1')]
  const forged = [near, far].map(({ peerRecordEnvelope }) => {
    const changed = Uint8Array.from(peerRecordEnvelope)
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
    return changed
  })
  const records = [...forged, near.peerRecordEnvelope, far.peerRecordEnvelope]
  const hub = await createHub([encodePeers({ records, stunPort: 0, name: undefined })])
  hub.connect(near)
  hub.becomesMember(near)
  await hub.pass()
  expect([hub.refused, hub.found]).toEqual([['peers.bad_record'], [far.peer]])
  // nor is it told to who knows it
  expect(hub.told).toEqual([0])
  hub.exchange.stop()
})

test('of a record with many addresses few are kept, and a digest of all; one with hundreds is none', async () => {
  const addresses = Array.from({ length: 300 }, (_, at) => `/ip4/192.0.2.${at % 256}/tcp/${at + 1}`)
  const [many, fewer] = [
    await createSubject(...addresses.slice(0, 60)),
    await createSubject(...addresses.slice(1, 60)),
  ]
  const kept = readRecord(many.peerRecordEnvelope)
  expect(kept).toMatchObject({ subject: many.peer })
  expect(kept?.addresses).toHaveLength(2 * MAX_PEER_ADDRESSES)
  expect(kept?.says.length).toBe(32)
  expect(readRecord(fewer.peerRecordEnvelope)?.says).not.toBe(kept?.says)
  const { peerRecordEnvelope } = await createSubject(...addresses)
  expect(peerRecordEnvelope.length).toBeLessThan(MAX_PEER_RECORD_BYTES)
  expect(readRecord(peerRecordEnvelope)).toBeUndefined()
})
