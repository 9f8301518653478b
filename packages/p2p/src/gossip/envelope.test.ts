import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { publicKeyFromRaw } from '@libp2p/crypto/keys'
import { RPC } from '@libp2p/gossipsub/message'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import {
  createNetworkSecrets,
  createSealer,
  parseToken,
  portableSealCipher,
  sealedLength,
} from '@mesh/network'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_ENVELOPE_PARTS } from './limits.ts'
import { LONG_MESSAGE_BYTES } from '../limits.ts'
import { decodeEnvelope, encodeEnvelope } from './envelope.ts'
import { buildMessageId } from './gossipsub-settings.ts'

interface Vectors {
  identities: Record<string, { public_hex: string; peer_id: string }>
  seal: { cases: { plaintext_hex: string; sealed_hex: string }[] }
  gossip_payload_json: string
  pubsub_message: {
    seqno_hex: string
    topic: string
    data: string
    signed_protobuf_hex: string
    unsigned_protobuf_hex: string
    signature_hex: string
    message_id_hex: string
  }
}
interface Recording {
  token: string
  messages: {
    label: string
    received_unix_ms: number
    topic: string
    seal_window: number
    from_hex: string
    seqno_hex: string
    protobuf_hex: string
    plaintext: string
  }[]
}
const load = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../test/vectors/${name}`, import.meta.url), 'utf8'))
const vectors = load('p2p.json') as Vectors
const recorded = load('recorded-ledger.json') as Recording
const bytes = (text: string) => new TextEncoder().encode(text)
const text = (raw: Uint8Array) => new TextDecoder().decode(raw)

/** Checks the signature as gossipsub does, and gives the parts. */
async function openSigned(protobufHex: string) {
  const { signature, key, ...unsigned } = RPC.Message.decode(hexToBytes(protobufHex))
  const from = unsigned.from ?? new Uint8Array()
  // an identity multihash of a protobuf key: six bytes, then the key
  const author = publicKeyFromRaw(from.subarray(6))
  const signed = [bytes('libp2p-pubsub:'), RPC.Message.encode(unsigned)]
  const valid = await author.verify(Buffer.concat(signed), signature ?? new Uint8Array())
  const sequenceNumber = BigInt(`0x${bytesToHex(unsigned.seqno ?? new Uint8Array())}`)
  const id = buildMessageId({
    type: 'signed',
    from: peerIdFromPublicKey(author),
    topic: unsigned.topic,
    data: unsigned.data ?? new Uint8Array(),
    sequenceNumber,
    signature: signature ?? new Uint8Array(),
    key: author,
  })
  return { valid, id, author: peerIdFromPublicKey(author).toString(), ...unsigned, key }
}

/** The sealed text of an envelope. */
function sealedIn(envelope: Uint8Array): string | undefined {
  const sealed = decodeEnvelope(envelope)
  return sealed === undefined ? undefined : text(sealed)
}

test('the envelope is that of legacy nodes', () => {
  const sealed = vectors.seal.cases.at(-1)?.sealed_hex ?? ''
  expect(text(encodeEnvelope(sealed))).toBe(vectors.gossip_payload_json)
  expect(sealedIn(bytes(vectors.gossip_payload_json))).toBe(sealed)
  // what the bound on publications counts with
  expect(encodeEnvelope('0'.repeat(sealedLength(1000))).length).toBeLessThan(sealedLength(1000) + 100)
})

test('a signed message of legacy nodes verifies and has their id', async () => {
  const vector = vectors.pubsub_message
  const opened = await openSigned(vector.signed_protobuf_hex)
  expect(opened.valid).toBe(true)
  expect(bytesToHex(opened.id)).toBe(vector.message_id_hex)
  expect(opened.topic).toBe(vector.topic)
  expect(text(opened.data ?? new Uint8Array())).toBe(vector.data)
  expect(sealedIn(opened.data ?? new Uint8Array())).toBe('00')
  expect((await openSigned(vector.signed_protobuf_hex.replace('3030222c', '3031222c'))).valid).toBe(false)
})

describe('what a node sent in a real network', () => {
  const secrets = createNetworkSecrets(parseToken(recorded.token))
  const sealer = createSealer(secrets, portableSealCipher)
  test.each(recorded.messages)('$label', async (message) => {
    const { valid, id, author, topic, data = new Uint8Array() } = await openSigned(message.protobuf_hex)
    expect(valid).toBe(true)
    expect(author).toBe(vectors.identities.A?.peer_id)
    expect(bytesToHex(id)).toBe(message.from_hex + message.seqno_hex)
    expect(topic).toBe(secrets.ofWindow(message.seal_window).topic)
    const unsealed = sealer.unseal(decodeEnvelope(data) ?? '', message.received_unix_ms)
    expect(unsealed?.window).toBe(message.seal_window)
    expect(gunzipSync(unsealed?.plaintext ?? new Uint8Array()).toString()).toBe(message.plaintext)
  })
})

interface LongInterval {
  name: string
  token: string
  recorded: { author: string; time: string; block: string; pubsub_message_hex: string }
}
const longIntervals = load('../../../network/test/vectors/long-intervals.json') as { configs: LongInterval[] }

test.each(longIntervals.configs)(
  'what a node sent in a network whose keys hardly ever rotate: $name',
  async (network) => {
    const { author, time, block, pubsub_message_hex: sent } = network.recorded
    const secrets = createNetworkSecrets(parseToken(network.token))
    const opened = await openSigned(sent)
    expect(opened).toMatchObject({ valid: true, author })
    expect(opened.topic).toBe(secrets.ofWindow(secrets.windowAt(Number(time) * 1000)).topic)
    const sealer = createSealer(secrets, portableSealCipher)
    const unsealed = sealer.unseal(decodeEnvelope(opened.data ?? new Uint8Array()) ?? '', Number(time) * 1000)
    expect(gunzipSync(unsealed?.plaintext ?? new Uint8Array()).toString()).toBe(block)
  },
)

test('an envelope is read as legacy nodes read it: any case, other keys ignored', () => {
  for (const json of [
    '{"message":"ab","x":1}',
    '{"MESSAGE":"ab"}',
    ' {"SenderID":5,"Message":"ab","Annotations":{"a":[1]}} ',
    '{"message":"no","Message":"ab"}',
  ]) {
    expect(sealedIn(bytes(json))).toBe('ab')
  }
})

test('what is no envelope is none, whatever it is', () => {
  for (const json of ['', '{', 'null', '[]', '"Message"', '7', '{"Message":7}', '{"Message":null}', '{}']) {
    expect(decodeEnvelope(bytes(json))).toBeUndefined()
  }
  expect(decodeEnvelope(Uint8Array.of(0xff, 0xfe))).toBeUndefined()
  expect(decodeEnvelope(bytes(`{"a":${'['.repeat(100_000)}`))).toBeUndefined()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (junk) => {
      expect(decodeEnvelope(junk)?.length ?? 0).toBeLessThanOrEqual(junk.length)
    }),
  )
  fc.assert(
    fc.property(fc.json(), (json) => {
      decodeEnvelope(bytes(json))
    }),
  )
})

test('of an envelope as nodes write it no text is made, and its bytes are those of the message', () => {
  const envelope = encodeEnvelope('00ff')
  expect(decodeEnvelope(envelope)?.buffer).toBe(envelope.buffer)
})

test('an envelope of more values than legacy nodes may write is not parsed', () => {
  const withLists = (count: number) => bytes(`{"message":"ab","a":[${Array(count).fill('[]').join(',')}]}`)
  expect(sealedIn(withLists(100))).toBe('ab')
  expect(decodeEnvelope(withLists(MAX_ENVELOPE_PARTS))).toBeUndefined()
})

test('a long envelope must be as nodes write it', () => {
  const hex = '00'.repeat(LONG_MESSAGE_BYTES)
  expect(sealedIn(encodeEnvelope(hex))).toBe(hex)
  expect(decodeEnvelope(bytes(`{ "Message": "${hex}" }`))).toBeUndefined()
})
