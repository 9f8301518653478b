import { createPrivateKey, createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parsePeerId, type PeerId } from '@mesh/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeControl, encodeHello, encodeProof } from '../wire/control-message.ts'
import { createKeyExchange, type KeyExchange, type KeyExchangeInit } from './key-exchange.ts'
import { derivePresharedKey } from '../keys/secrets.ts'
import { sharedSecret } from '../keys/x25519.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const vector = JSON.parse(read('../../test/vectors/vpn.json')) as Record<string, string>
const of = (name: string) => Buffer.from(vector[name] ?? '', 'hex')
const [A, B] = [parsePeerId(vector.a ?? ''), parsePeerId(vector.b ?? '')]

describe('the exchange of keys', () => {
  it('is that of docs/PROTOCOLS.md', () => {
    const [a, b] = [exchange('a'), exchange('b')]
    const made = {
      a_public_key: hex(publicKeyOf(of('a_private_key'))),
      b_public_key: hex(publicKeyOf(of('b_private_key'))),
      shared_secret: hex(sharedSecret(of('a_private_key'), of('b_public_key'))),
      a_hello: hex(a.hello),
      b_hello: hex(b.hello),
      a_proof: hex(sentBy(a, b.hello)),
      b_proof: hex(sentBy(b, a.hello)),
      preshared_key: hex(derivePresharedKey(vector.network_key ?? '', A, B)),
    }
    expect(vector).toMatchObject(made)
    expect(derivePresharedKey(vector.network_key ?? '', B, A)).toEqual(new Uint8Array(of('preshared_key')))
    const document = read('../../../../docs/PROTOCOLS.md')
    expect(Object.values(vector).filter((text) => !document.includes(`\`${text}\``))).toEqual([])
  })

  it('gives both ends the key of the other', () => {
    const [a, b] = [exchange('a'), exchange('b', { mtu: 9000 })]
    const [proofOfA, proofOfB] = [sentBy(a, b.hello), sentBy(b, a.hello)]
    expect(a.receive(proofOfB)).toEqual({
      kind: 'established',
      publicKey: new Uint8Array(of('b_public_key')),
      mtu: 9000,
    })
    expect(b.receive(proofOfA)).toMatchObject({ kind: 'established', mtu: 1280 })
  })

  it('ignores what later versions say, before and after', () => {
    const [a, b] = [exchange('a'), exchange('b')]
    const later = Uint8Array.of((9 << 3) | 2, 2, 1, 1)
    expect(a.receive(later)).toEqual({ kind: 'ignored' })
    const proof = sentBy(b, a.hello)
    sentBy(a, Buffer.concat([b.hello, later]))
    expect(a.receive(proof)).toMatchObject({ kind: 'established' })
    expect(a.receive(later)).toEqual({ kind: 'ignored' })
    expect(a.receive(new Uint8Array())).toEqual({ kind: 'ignored' })
  })

  it('refuses what is no message', () => {
    expect(refusal(exchange('a'), Uint8Array.of(10, 200, 1))).toBe('key.bad_message')
    const both = Buffer.concat([exchange('b').hello, encodeProof(new Uint8Array(32))])
    expect(refusal(exchange('a'), both)).toBe('key.bad_message')
  })

  it.each([
    ['a key of 31 bytes', { publicKey: new Uint8Array(31).fill(1) }],
    ['no key', { publicKey: new Uint8Array() }],
    ['a nonce of 33 bytes', { nonce: new Uint8Array(33) }],
    ['an MTU that IP forbids', { mtu: 500 }],
    ['an MTU beyond any packet', { mtu: 65_536 }],
  ])('refuses a hello with %s', (_, part) => {
    const hello = { publicKey: of('b_public_key'), nonce: of('b_nonce'), mtu: 1280, ...part }
    expect(refusal(exchange('a'), encodeHello(hello))).toBe('key.bad_hello')
  })

  it('refuses its own key, points of low order, and keys that another peer holds', () => {
    const hello = { nonce: of('b_nonce'), mtu: 1280 }
    expect(refusal(exchange('a'), encodeHello({ ...hello, publicKey: of('a_public_key') }))).toBe('key.own')
    for (const lowOrder of [
      '0000000000000000000000000000000000000000000000000000000000000000',
      '0100000000000000000000000000000000000000000000000000000000000000',
      'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
      'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    ]) {
      const publicKey = Buffer.from(lowOrder, 'hex')
      expect(refusal(exchange('a'), encodeHello({ ...hello, publicKey }))).toBe('key.weak')
    }
    const held = exchange('a', { isHeld: (key) => Buffer.compare(key, of('b_public_key')) === 0 })
    expect(refusal(held, exchange('b').hello)).toBe('key.held_by_another')
  })

  it('refuses a key that another peer proved in between', () => {
    let isHeld = false
    const [a, b] = [exchange('a', { isHeld: () => isHeld }), exchange('b')]
    sentBy(a, b.hello)
    const proof = sentBy(b, a.hello)
    isHeld = true
    expect(refusal(a, proof)).toBe('key.held_by_another')
  })

  it('refuses messages out of order and twice', () => {
    expect(refusal(exchange('a'), encodeProof(new Uint8Array(32)))).toBe('key.early_proof')
    const [a, b] = [exchange('a'), exchange('b')]
    const proof = sentBy(b, a.hello)
    sentBy(a, b.hello)
    expect(refusal(a, b.hello)).toBe('key.twice')
    const again = exchange('a')
    sentBy(again, b.hello)
    again.receive(proof)
    expect(refusal(again, proof)).toBe('key.twice')
  })

  it('refuses proofs of anything but this exchange', () => {
    const [a, b] = [exchange('a'), exchange('b')]
    const own = sentBy(a, b.hello)
    const right = sentBy(b, a.hello)
    const wrong = [
      own,
      sentBy(exchange('b'), exchange('a', { nonce: new Uint8Array(32) }).hello),
      sentBy(exchange('b', { nonce: new Uint8Array(32) }), a.hello),
      sentBy(exchange('b', { peer: B }), a.hello),
      sentBy(exchange('b', { privateKey: new Uint8Array(32).fill(9) }), a.hello),
      encodeProof(new Uint8Array()),
      right.map((byte, at) => (at === right.length - 1 ? byte ^ 1 : byte)),
    ]
    for (const proof of wrong) {
      const fresh = exchange('a')
      sentBy(fresh, b.hello)
      expect(refusal(fresh, proof)).toBe('key.wrong_proof')
    }
  })

  it('survives any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), (messages) => {
        const a = exchange('a')
        for (const message of messages) expect(a.receive(message).kind).not.toBe('established')
      }),
    )
    fc.assert(
      fc.property(fc.nat(200), fc.nat(255), (at, byte) => {
        const message = Uint8Array.from(exchange('b').hello)
        message[at % message.length] = byte
        decodeControl(message)
      }),
    )
  })
})

function exchange(side: 'a' | 'b', other: Partial<KeyExchangeInit> = {}): KeyExchange {
  const [self, peer]: [PeerId, PeerId] = side === 'a' ? [A, B] : [B, A]
  return createKeyExchange({
    self,
    peer,
    privateKey: of(`${side}_private_key`),
    publicKey: of(`${side}_public_key`),
    nonce: of(`${side}_nonce`),
    mtu: 1280,
    isHeld: () => false,
    ...other,
  })
}

function sentBy(one: KeyExchange, message: Uint8Array): Uint8Array {
  const step = one.receive(message)
  if (step.kind !== 'send') throw new Error(JSON.stringify(step))
  return step.message
}

function refusal(one: KeyExchange, message: Uint8Array): string {
  const step = one.receive(message)
  return step.kind === 'refused' ? step.code : step.kind
}

function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  const prefix = Buffer.from('302e020100300506032b656e04220420', 'hex')
  const key = createPrivateKey({ key: Buffer.concat([prefix, privateKey]), format: 'der', type: 'pkcs8' })
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}

function hex(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('hex')
}
