import { gossipsub, type GossipSub } from '@libp2p/gossipsub'
import { RPC } from '@libp2p/gossipsub/message'
import { identify } from '@libp2p/identify'
import { createLibp2p } from 'libp2p'
import { expect, onTestFinished, test } from 'vitest'
import { MAX_GOSSIP_ID_BYTES, MAX_RPC_FIELDS, MAX_SIGNER_BYTES } from '../limits.ts'
import { boundRpc } from './bounds.ts'

interface Decoding {
  decodeRpc(bytes: Uint8Array): RPC
}

async function createDecoder(): Promise<(rpc: Partial<RPC>) => RPC> {
  const build = gossipsub() as never
  const host = await createLibp2p({ start: false, services: { identify: identify(), pubsub: build } })
  onTestFinished(() => host.stop())
  const pubsub = host.services['pubsub'] as unknown as GossipSub & Decoding
  boundRpc(pubsub)
  return (rpc) => pubsub.decodeRpc(RPC.encode({ subscriptions: [], messages: [], ...rpc }))
}

const NO_CONTROL = { ihave: [], iwant: [], graft: [], prune: [], idontwant: [] }
const ids = (count: number, bytes: number) => Array.from({ length: count }, () => new Uint8Array(bytes))
const message = (change: Partial<RPC.Message>): RPC.Message => ({
  from: new Uint8Array(38),
  data: new Uint8Array(100),
  seqno: new Uint8Array(8),
  topic: 'topic',
  signature: new Uint8Array(64),
  key: new Uint8Array(36),
  ...change,
})

test('a frame as full as those of honest peers is decoded', async () => {
  const decode = await createDecoder()
  const messages = Array.from({ length: 1_000 }, () => message({}))
  expect(decode({ messages }).messages).toHaveLength(1_000)
  const ihave = [{ topicID: 'topic', messageIDs: ids(5_000, 46) }]
  const prune = [
    { topicID: 'topic', peers: [{ peerID: new Uint8Array(38), signedPeerRecord: ids(1, 600)[0] }] },
  ]
  const control = { ...NO_CONTROL, ihave, prune } as RPC.ControlMessage
  expect(decode({ control }).control?.ihave[0]?.messageIDs).toHaveLength(5_000)
  expect(decode({ messages: [message({ data: new Uint8Array(1 << 20) })] }).messages).toHaveLength(1)
})

test('a frame with more fields than are looked at is refused before it is decoded, in one list or in many', async () => {
  const decode = await createDecoder()
  const lists = Array.from({ length: 8 }, () => ({ messageIDs: ids(MAX_RPC_FIELDS / 8, 0) }))
  expect(() => decode({ control: { ...NO_CONTROL, iwant: lists } })).toThrow('too many fields')
})

test('names, authors and keys that are too long are refused', async () => {
  const decode = await createDecoder()
  const long = ids(1, MAX_GOSSIP_ID_BYTES + 1)
  const idontwant = [{ messageIDs: long }]
  expect(() => decode({ control: { ...NO_CONTROL, idontwant } })).toThrow('too long')
  expect(() => decode({ messages: [message({ from: long[0] as Uint8Array })] })).toThrow('too long')
  expect(() => decode({ messages: [message({ topic: 't'.repeat(MAX_GOSSIP_ID_BYTES + 1) })] })).toThrow(
    'too long',
  )
  const key = new Uint8Array(MAX_SIGNER_BYTES + 1)
  expect(() => decode({ messages: [message({ key })] })).toThrow('too long')
  expect(() => decode({ messages: [message({ signature: key })] })).toThrow('too long')
})
