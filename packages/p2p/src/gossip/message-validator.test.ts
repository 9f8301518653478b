import { type Message, TopicValidatorResult } from '@libp2p/gossipsub'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { parsePeerId } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createRefusals } from '../refusals.ts'
import { encodeEnvelope } from './envelope.ts'
import { MessageValidator } from './message-validator.ts'

async function createValidator() {
  const clock = createManualClock()
  const told: number[] = []
  const key = await generateKeyPair('Ed25519')
  const peerId = peerIdFromPrivateKey(key)
  const plaintext = new Uint8Array(1)
  const validator = new MessageValidator(
    {
      self: parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'),
      maxMessageBytes: 1_000,
      tell: () => told.push(1) > 0,
    },
    {
      sealer: {
        seal: () => '',
        unseal: () => ({ plaintext, window: 0 }),
      },
      clock,
      refusals: createRefusals({ clock, emit: () => {} }),
      membership: { mayUse: () => true },
    },
  )
  const messageOf = (bytes: number) =>
    ({
      type: 'signed',
      from: peerId,
      data: encodeEnvelope('0'.repeat(bytes)),
      sequenceNumber: 1n,
      topic: 't',
      signature: new Uint8Array(),
      key: key.publicKey,
    }) satisfies Message
  return { validator, told, peerId, messageOf }
}

test('a message is judged at once', async () => {
  const { validator, told, peerId, messageOf } = await createValidator()
  expect(validator.judge(peerId, messageOf(100))).toBe(TopicValidatorResult.Accept)
  expect(told).toHaveLength(1)
})

test('a message over the bound of the network is refused', async () => {
  const { validator, told, peerId, messageOf } = await createValidator()
  expect(validator.judge(peerId, messageOf(2_000))).toBe(TopicValidatorResult.Ignore)
  expect(told).toHaveLength(0)
})
