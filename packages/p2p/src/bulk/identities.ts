/** The identities that this node gave out: who may connect by which, with what key, and what becomes of it. */
import type { TLSSocket } from 'node:tls'
import type { PeerId, Random } from '@mesh/core'
import { IDENTITY_BYTES, KEY_BYTES } from './limits.ts'

export interface Identity {
  readonly peer: PeerId
  readonly key: Uint8Array
  /** The peer connected and proved the key. */
  readonly onSocket: (socket: TLSSocket) => void
}

export class Identities {
  readonly #random: Random
  readonly #known = new Map<string, Identity>()

  constructor({ random }: { readonly random: Random }) {
    this.#random = random
  }

  /** Makes one for a peer; it is good until `end` is called. */
  give(peer: PeerId, onSocket: Identity['onSocket']) {
    const identity = this.#random.bytes(IDENTITY_BYTES)
    const key = this.#random.bytes(KEY_BYTES)
    const text = identityText(identity)
    this.#known.set(text, { peer, key, onSocket })
    return { identity, key, end: () => this.#known.delete(text) }
  }

  get(text: string): Identity | undefined {
    return this.#known.get(text)
  }
}

/** Prints an identity as it stands in the handshake. */
export function identityText(identity: Uint8Array): string {
  return Buffer.from(identity).toString('base64url')
}
