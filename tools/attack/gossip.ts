/** Gossip by hand: signed messages under any key, and the frames that carry them. */
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { generateKeyPairFromSeed, publicKeyToProtobuf } from '@libp2p/crypto/keys'
import { RPC } from '@libp2p/gossipsub/message'
import type { Connection, PrivateKey, Stream } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import {
  canonicalBytes,
  createSigner,
  encodeBlock,
  type Entry,
  type KeyedEntry,
  type Signer,
} from '@mesh/ledger'
import { createNetworkSecrets, createSealer, type NetworkConfig } from '@mesh/network'
import { nativeSealCipher } from '@mesh/network/node'
import { framed, openStream } from './attackers.ts'

export const GOSSIP_PROTOCOL = '/meshsub/1.1.0'

/** Signs data as a message of one author on a topic. */
export async function signMessage(seed: Uint8Array, topic: string, data: Uint8Array): Promise<RPC.Message> {
  const key = await generateKeyPairFromSeed('Ed25519', seed)
  const message = await signAs(key, peerIdFromPrivateKey(key).toMultihash().bytes, { topic, data })
  return { ...message, key: publicKeyToProtobuf(key.publicKey) }
}

/** Signs a message whose author is whatever holds the key's public half; the key itself is not sent along. */
export async function signAs(
  key: PrivateKey,
  from: Uint8Array,
  { topic, data }: { readonly topic: string; readonly data: Uint8Array },
): Promise<RPC.Message> {
  const unsigned = { from, data, seqno: randomBytes(8), topic }
  const signed = Buffer.concat([Buffer.from('libp2p-pubsub:'), RPC.Message.encode(unsigned as RPC.Message)])
  return { ...unsigned, signature: await key.sign(signed) }
}

/** A frame as gossip streams carry it. */
export function gossipFrame(rpc: Partial<RPC>): Uint8Array {
  return framed(RPC.encode({ subscriptions: [], messages: [], ...rpc }))
}

/** Opens a gossip stream and subscribes to topics, so that the victim takes messages of them. */
export async function openGossip(
  connection: Connection,
  topics: readonly string[],
  signal: AbortSignal,
): Promise<Stream> {
  const stream = await openStream(connection, GOSSIP_PROTOCOL, signal)
  stream.send(gossipFrame({ subscriptions: topics.map((topic) => ({ subscribe: true, topic })) }))
  return stream
}

/** What a member can make of the token: the topic of now, and sealed envelopes. */
export function createSealing(config: NetworkConfig) {
  const secrets = createNetworkSecrets(config)
  const sealer = createSealer(secrets, nativeSealCipher)
  const now = () => secrets.ofWindow(secrets.windowAt(Date.now()))
  const seal = (plaintext: Uint8Array) =>
    sealer.seal(plaintext, secrets.windowAt(Date.now()), randomBytes(12))
  return {
    topic: () => now().topic,
    publicTopic: () => now().publicTopic,
    seal,
    envelope: (plaintext: Uint8Array): Uint8Array =>
      Buffer.from(`{"Message":"${seal(plaintext)}","SenderID":"","Annotations":null}`),
    unseal: (sealedHex: string) => sealer.unseal(sealedHex, Date.now())?.plaintext,
  }
}

const nowNs = () => BigInt(Date.now()) * 1_000_000n

/** Signs an entry; `change` makes it something that no node writes. */
export function signEntry(
  signer: Signer,
  [bucket, key, value]: readonly [string, string, unknown],
  change: Partial<Entry> = {},
): KeyedEntry {
  const unsigned: Entry = {
    value: change.deleted === true ? '' : JSON.stringify(value),
    owner: signer.peerId,
    version: nowNs(),
    updatedAt: Math.floor(Date.now() / 1000),
    deleted: false,
    sig: null,
    ...change,
  }
  const sig = signer.sign(canonicalBytes({ bucket, key, entry: unsigned }))
  return { bucket, key, entry: { ...unsigned, sig } }
}

/** A fresh member: its key, and what signs its entries. */
export function createAuthor(): { readonly seed: Uint8Array; readonly signer: Signer } {
  const seed = Uint8Array.from(randomBytes(32))
  return { seed, signer: createSigner(seed) }
}

export function gzippedBlock(entries: readonly KeyedEntry[]): Uint8Array {
  return gzipSync(encodeBlock(entries))
}
