import { readFileSync } from 'node:fs'
import { parsePeerId } from '@mesh/core'
import { networkId, parseNetworkConfig } from '@mesh/network'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildProof, deriveMemberKey, isProof } from './handshake.ts'
import { decodeHandshakeMessage, encodeHandshakeMessage } from './handshake-message.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const vector = JSON.parse(read('../../test/vectors/member.json')) as Record<string, string>
const config = parseNetworkConfig(vector['config_yaml'] ?? '')
const memberKey = deriveMemberKey(config)
const of = (name: string) => vector[name] ?? ''
const ends = {
  initiator: parsePeerId(of('initiator')),
  responder: parsePeerId(of('responder')),
  initiatorNonce: hexToBytes(of('initiator_nonce')),
  responderNonce: hexToBytes(of('responder_nonce')),
}

test('key, proofs and messages are those of docs/PROTOCOLS.md', () => {
  const responderProof = buildProof(memberKey, 'responder', ends)
  const initiatorProof = buildProof(memberKey, 'initiator', ends)
  const made = {
    member_key: bytesToHex(memberKey),
    responder_proof: bytesToHex(responderProof),
    initiator_proof: bytesToHex(initiatorProof),
    message_1: bytesToHex(encodeHandshakeMessage({ nonce: ends.initiatorNonce })),
    message_2: bytesToHex(encodeHandshakeMessage({ nonce: ends.responderNonce, proof: responderProof })),
    message_3: bytesToHex(encodeHandshakeMessage({ proof: initiatorProof })),
    network_id: networkId(config),
  }
  expect(vector).toMatchObject(made)
  const document = read('../../../../docs/PROTOCOLS.md')
  const { responder_proof: _, initiator_proof: __, ...printed } = made
  expect(Object.values(printed).filter((hex) => !document.includes(`\`${hex}\``))).toEqual([])
})

test('every part of a proof matters', () => {
  const proof = buildProof(memberKey, 'initiator', ends)
  const { initiator, responder, initiatorNonce, responderNonce } = ends
  const others = [
    buildProof(memberKey, 'responder', ends),
    buildProof(memberKey, 'initiator', { ...ends, initiator: responder, responder: initiator }),
    buildProof(memberKey, 'initiator', {
      ...ends,
      initiatorNonce: responderNonce,
      responderNonce: initiatorNonce,
    }),
    buildProof(memberKey, 'initiator', { ...ends, responder: initiator }),
    buildProof(deriveMemberKey({ ...config, room: 'another' }), 'initiator', ends),
    proof.subarray(0, 31),
    new Uint8Array(),
  ]
  expect(isProof(proof, proof.slice())).toBe(true)
  expect(others.filter((other) => isProof(proof, other))).toEqual([])
})

test('whatever comes, decoding ends with a message or with none', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 256 }), (bytes) => {
      const message = decodeHandshakeMessage(bytes)
      expect([undefined, 32]).toContain(message?.nonce?.length)
      expect([undefined, 32]).toContain(message?.proof?.length)
    }),
  )
})
