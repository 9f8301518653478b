import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { PeerRecord, RecordEnvelope } from '@libp2p/peer-record'
import { expect, test } from 'vitest'
import { PeerRecords } from './peer-records.ts'

test('the newest record is kept, and one from the future gives way to one that is not', async () => {
  const privateKey = await generateKeyPair('Ed25519')
  const peerId = peerIdFromPrivateKey(privateKey)
  const now = Date.UTC(2026, 0, 1)
  const records = new PeerRecords()
  const keep = async (aheadMs: number) => {
    const record = new PeerRecord({ peerId, multiaddrs: [], seqNumber: BigInt(now + aheadMs) })
    return records.keep('a', (await RecordEnvelope.seal(record, privateKey)).marshal(), now)
  }
  expect([await keep(-1), await keep(0), await keep(-1), await keep(0)]).toEqual([true, true, false, false])
  expect([await keep(600_000), await keep(500_000)]).toEqual([true, false])
  expect([await keep(60_000), await keep(0), await keep(600_000)]).toEqual([true, false, true])
})
