import { generateKeyPair, publicKeyToProtobuf } from '@libp2p/crypto/keys'
import { type GossipSub, gossipsub, type Message, TopicValidatorResult } from '@libp2p/gossipsub'
import { RPC } from '@libp2p/gossipsub/message'
import { identify } from '@libp2p/identify'
import type { PeerId } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { createLibp2p } from 'libp2p'
import { expect, onTestFinished, test } from 'vitest'
import { LONG_MESSAGE_BYTES } from '../limits.ts'
import { gossipsubSettings } from '../gossip/gossipsub-settings.ts'
import { checkLongMessages } from './long-messages.ts'

interface Validating {
  readonly topicValidators: Map<string, (source: PeerId, message: Message) => TopicValidatorResult>
  validateReceivedMessage(source: PeerId, message: Partial<RPC.Message>): Promise<object>
}

const SEQNO = Uint8Array.of(0, 0, 0, 0, 0, 0, 1, 2)

/** Gives what makes the outcome of a message, and the messages that were judged. */
async function createValidation(isOurs: boolean) {
  const build = gossipsub(gossipsubSettings(generateNetworkConfig({}, systemRandom))) as never
  const host = await createLibp2p({ start: false, services: { identify: identify(), pubsub: build } })
  onTestFinished(() => host.stop())
  const pubsub = host.services['pubsub'] as unknown as GossipSub & Validating
  const judged: Message[] = []
  pubsub.topicValidators.set('topic', (_source, message) => {
    judged.push(message)
    return message.data[0] === 1 ? TopicValidatorResult.Ignore : TopicValidatorResult.Accept
  })
  if (isOurs) checkLongMessages(pubsub, systemClock)
  return { judged, validate: (message: RPC.Message) => pubsub.validateReceivedMessage(host.peerId, message) }
}

async function signMessage(data: Uint8Array): Promise<RPC.Message> {
  const key = await generateKeyPair('Ed25519')
  const from = peerIdFromPrivateKey(key).toMultihash().bytes
  const unsigned = { from, data, seqno: SEQNO, topic: 'topic' }
  const signed = Buffer.concat([Buffer.from('libp2p-pubsub:'), RPC.Message.encode(unsigned)])
  return { ...unsigned, signature: await key.sign(signed), key: publicKeyToProtobuf(key.publicKey) }
}

test('a long message has the outcome that it has with the library', async () => {
  const [ours, library] = [await createValidation(true), await createValidation(false)]
  const good = await signMessage(new Uint8Array(LONG_MESSAGE_BYTES))
  const { key: _, ...keyless } = await signMessage(new Uint8Array(LONG_MESSAGE_BYTES))
  const ignored = await signMessage(new Uint8Array(LONG_MESSAGE_BYTES).fill(1))
  const other = await signMessage(new Uint8Array(LONG_MESSAGE_BYTES))
  // signatures that were seen would make them copies
  const unseen = await signMessage(new Uint8Array(LONG_MESSAGE_BYTES))
  const { signature, ...unsigned } = unseen
  // the first is repeated at the end
  for (const message of [good, keyless, ignored, good])
    expect(await ours.validate(message)).toEqual(await library.validate(message))
  expect(ours.judged).toEqual(library.judged)
  expect(ours.judged).toHaveLength(3)
  for (const wrong of [
    { ...unseen, data: new Uint8Array(LONG_MESSAGE_BYTES).fill(2) },
    { ...unseen, topic: 'other' },
    { ...unseen, from: other.from },
    { ...unseen, key: other.key },
    { ...unseen, key: Uint8Array.of(1) },
    { ...unseen, seqno: SEQNO.subarray(1) },
    { ...unseen, seqno: SEQNO.toReversed() },
    { ...unseen, signature: signature?.subarray(1) },
    unsigned,
  ] as RPC.Message[]) {
    expect(await ours.validate(wrong)).toMatchObject({ code: 'invalid', reason: 'error' })
    expect(await library.validate(wrong)).toMatchObject({ code: 'invalid', reason: 'error' })
  }
  expect(ours.judged).toHaveLength(3)
})

test('checking a long message leaves no copies of it', async () => {
  const { validate, judged } = await createValidation(true)
  const message = await signMessage(new Uint8Array(16 * 2 ** 20))
  const before = process.memoryUsage().arrayBuffers
  await validate(message)
  expect(judged).toHaveLength(1)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * 2 ** 20)
})

test('long messages are checked one after the other, and other work goes on meanwhile', async () => {
  const { validate, judged } = await createValidation(true)
  const messages = await Promise.all([1, 2, 3].map(() => signMessage(new Uint8Array(16 * 2 ** 20))))
  const judgedAtTurns: number[] = []
  let isOver = false
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const turn = () => {
    judgedAtTurns.push(judged.length)
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await Promise.all(messages.map((message) => validate(message)))
  isOver = true
  expect(new Set(judgedAtTurns)).toEqual(new Set([0, 1, 2]))
  expect(most).toBeLessThan(24 * 2 ** 20)
})

test('a copy of a long message is not checked again', async () => {
  const { validate, judged } = await createValidation(true)
  const message = await signMessage(new Uint8Array(LONG_MESSAGE_BYTES))
  await validate(message)
  const copy = { ...message, from: Uint8Array.of(1) }
  expect(await validate(copy)).toMatchObject({ code: 'duplicate' })
  expect(judged).toHaveLength(1)
})
