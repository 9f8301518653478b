/** The identities that this node gave out: who may connect by which, with what key, and what becomes of it. */
import type { TLSSocket } from 'node:tls'
import type { PeerId, Random } from '@mesh/core'
import type { Offer } from './bulk-message.ts'
import { IDENTITY_BYTES, KEY_BYTES } from './limits.ts'

export interface Identity {
  readonly peer: PeerId
  readonly key: Uint8Array
  /** The peer connected and proved the key. */
  readonly onSocket: (socket: TLSSocket) => void
}

export interface Identities {
  /** Makes one for a peer; it is good until `end` is called. */
  give(
    peer: PeerId,
    onSocket: (socket: TLSSocket) => void,
  ): Pick<Offer, 'identity' | 'key'> & { readonly end: () => void }
  get(text: string): Identity | undefined
}

export function createIdentities({ random }: { readonly random: Random }): Identities {
  const known = new Map<string, Identity>()
  return {
    give(peer, onSocket) {
      const identity = random.bytes(IDENTITY_BYTES)
      const key = random.bytes(KEY_BYTES)
      const text = identityText(identity)
      known.set(text, { peer, key, onSocket })
      return { identity, key, end: () => known.delete(text) }
    },
    get: (text) => known.get(text),
  }
}

/** Prints an identity as it stands in the handshake. */
export function identityText(identity: Uint8Array): string {
  return Buffer.from(identity).toString('base64url')
}
