/**
 * How two members tell each other their WireGuard keys and prove that they hold them (docs/PROTOCOLS.md, 'VPN').
 * Pure: bytes in, a step out. Both ends do the same:
 *
 * 1. Send `hello`.
 * 2. At the other's hello, judge its key and send the proof of one's own.
 * 3. At the other's proof, take the key.
 */
import type { PeerId } from '@mesh/core'
import {
  decodeControl,
  encodeHello,
  encodeProof,
  type HelloMessage,
  type PathsMessage,
} from '../wire/control-message.ts'
import type { KeyRefusal } from '../streams/refusals.ts'
import { HASH_BYTES } from '../wire/limits.ts'
import { buildKeyProof, isKeyProof } from '../keys/secrets.ts'
import { sharedSecret } from '../keys/x25519.ts'

export interface KeyExchangeInit {
  readonly self: PeerId
  readonly peer: PeerId
  /** This node's X25519 keys, 32 bytes each. */
  readonly privateKey: Uint8Array
  readonly publicKey: Uint8Array
  /** 32 random bytes, for this exchange only. */
  readonly nonce: Uint8Array
  /** The longest packet that this node's interface takes, in bytes. */
  readonly mtu: number
  /** True when another peer holds this key now. */
  readonly isHeld: (publicKey: Uint8Array) => boolean
}

export type KeyExchangeStep =
  | { readonly kind: 'send'; readonly message: Uint8Array }
  | { readonly kind: 'established'; readonly publicKey: Uint8Array; readonly mtu: number }
  /** After the exchange: how the peer's socket can be reached. */
  | { readonly kind: 'paths'; readonly paths: PathsMessage }
  | { readonly kind: 'refused'; readonly code: KeyRefusal }
  /** The message is one of a later version. */
  | { readonly kind: 'ignored' }

export interface KeyExchange {
  /** The message to send first. */
  readonly hello: Uint8Array
  /** Takes the next message. Not to be called again after a refusal. */
  receive(message: Uint8Array): KeyExchangeStep
}

/** The range of an MTU, in bytes: the least and the longest packet of IPv4. */
const [LEAST_MTU, MOST_MTU] = [576, 65_535]

export function createKeyExchange(init: KeyExchangeInit): KeyExchange {
  const { self, peer, privateKey, publicKey, nonce, mtu } = init
  /** The other end's hello and the proof that it has to send; undefined before the hello. */
  let other: { readonly hello: HelloMessage; readonly proof: Uint8Array } | undefined
  let done = false

  function onHello(hello: HelloMessage): KeyExchangeStep {
    if (other !== undefined) return refused('key.twice')
    const { length } = hello.publicKey
    const lengthsFit = length === HASH_BYTES && hello.nonce.length === HASH_BYTES
    if (!lengthsFit || hello.mtu < LEAST_MTU || hello.mtu > MOST_MTU) return refused('key.bad_hello')
    if (Buffer.compare(hello.publicKey, publicKey) === 0) return refused('key.own')
    if (init.isHeld(hello.publicKey)) return refused('key.held_by_another')
    const secret = sharedSecret(privateKey, hello.publicKey)
    if (secret === undefined) return refused('key.weak')
    const [here, there] = [
      { peer: self, publicKey, nonce },
      { peer, publicKey: hello.publicKey, nonce: hello.nonce },
    ]
    other = { hello, proof: buildKeyProof(secret, there, here) }
    return { kind: 'send', message: encodeProof(buildKeyProof(secret, here, there)) }
  }

  function onProof(mac: Uint8Array): KeyExchangeStep {
    if (other === undefined) return refused('key.early_proof')
    if (done) return refused('key.twice')
    if (!isKeyProof(other.proof, mac)) return refused('key.wrong_proof')
    // another exchange may have ended in between
    if (init.isHeld(other.hello.publicKey)) return refused('key.held_by_another')
    done = true
    return { kind: 'established', publicKey: other.hello.publicKey, mtu: other.hello.mtu }
  }

  return {
    hello: encodeHello({ publicKey, nonce, mtu }),
    receive(message) {
      const control = decodeControl(message)
      switch (control?.kind) {
        case undefined:
          return refused('key.bad_message')
        case 'hello':
          return onHello(control.hello)
        case 'proof':
          return onProof(control.mac)
        case 'paths':
          return done ? { kind: 'paths', paths: control.paths } : refused('key.early_paths')
        case 'unknown':
          return { kind: 'ignored' }
      }
    },
  }
}

function refused(code: KeyRefusal): KeyExchangeStep {
  return { kind: 'refused', code }
}
