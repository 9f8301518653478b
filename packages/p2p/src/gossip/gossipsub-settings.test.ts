import { generateKeyPair } from '@libp2p/crypto/keys'
import { gossipsub } from '@libp2p/gossipsub'
import { RPC } from '@libp2p/gossipsub/message'
import { identify } from '@libp2p/identify'
import type { PeerId } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { createLibp2p } from 'libp2p'
import { expect, onTestFinished, test } from 'vitest'
import { gossipsubSettings } from './gossipsub-settings.ts'

interface Validating {
  validateReceivedMessage(hop: PeerId, message: RPC.Message): Promise<{ readonly code: string }>
}

async function createJudge(): Promise<(message: RPC.Message) => Promise<string>> {
  const build = gossipsub(gossipsubSettings(generateNetworkConfig({}, systemRandom))) as never
  const host = await createLibp2p({ start: false, services: { identify: identify(), pubsub: build } })
  onTestFinished(() => host.stop())
  const pubsub = host.services['pubsub'] as unknown as Validating
  return async (message) => (await pubsub.validateReceivedMessage(host.peerId, message)).code
}

async function signedMessage(): Promise<RPC.Message> {
  const key = await generateKeyPair('Ed25519')
  const unsigned = {
    from: peerIdFromPrivateKey(key).toMultihash().bytes,
    data: Uint8Array.of(1, 2, 3),
    seqno: new Uint8Array(8).fill(7),
    topic: 'topic',
  }
  const prefixed = Buffer.concat([Buffer.from('libp2p-pubsub:'), RPC.Message.encode(unsigned)])
  return { ...unsigned, signature: await key.sign(prefixed) }
}

test('of a message that was checked a copy is dropped unread', async () => {
  const [judge, message] = [await createJudge(), await signedMessage()]
  expect(await judge(message)).toBe('valid')
  const copy = {
    ...message,
    get data(): Uint8Array {
      throw new Error('read')
    },
  }
  expect(await judge(copy)).toBe('duplicate')
})

test('a signature that was seen on other content alone lets nothing through, and holds nothing up', async () => {
  const [judge, message] = [await createJudge(), await signedMessage()]
  const forged = { ...message, data: Uint8Array.of(1, 2, 4) }
  expect(await judge(forged)).toBe('invalid')
  expect(await judge(message)).toBe('valid')
  expect(await judge(forged)).toBe('duplicate')
  expect(await judge({ ...message, signature: new Uint8Array(64) })).toBe('invalid')
})
