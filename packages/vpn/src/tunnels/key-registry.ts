/**
 * Which member proved which WireGuard key: no key has two holders, and keys of members outside the table are bounded.
 */
import type { PeerId } from '@mesh/core'
import { hexOf } from '../keys/secrets.ts'
import { MAX_KEYS_OUTSIDE_TABLE } from './limits.ts'

/** The keys that a member proved. */
export interface PeerKey {
  /** The public key for WireGuard, 32 bytes. */
  readonly publicKey: Uint8Array
  /** The secret that both ends have besides, 32 bytes. */
  readonly presharedKey: Uint8Array
  /** The longest packet that its interface takes, in bytes. */
  readonly mtu: number
  /** When it was proven first, in Unix ms. */
  readonly since: number
}

export class KeyRegistry {
  readonly #keys = new Map<PeerId, PeerKey>()
  /** Who holds which public key, by its hex. */
  readonly #holders = new Map<string, PeerId>()
  #table: ReadonlySet<PeerId> = new Set()

  /** The peers whose keys are kept without a channel. */
  setTable(table: ReadonlySet<PeerId>): void {
    this.#table = table
  }

  isInTable(peer: PeerId): boolean {
    return this.#table.has(peer)
  }

  keyOf(peer: PeerId): PeerKey | undefined {
    return this.#keys.get(peer)
  }

  /** True when somebody other than `peer` has proven this key. */
  isHeldByAnother(peer: PeerId, publicKey: Uint8Array): boolean {
    return (this.#holders.get(hexOf(publicKey)) ?? peer) !== peer
  }

  /** False when keys of members outside the table would be more than the bound allows. */
  mayHold(peer: PeerId): boolean {
    if (this.#table.has(peer) || this.#keys.has(peer)) return true
    let outside = 0
    for (const holder of this.#keys.keys()) if (!this.#table.has(holder)) outside++
    return outside < MAX_KEYS_OUTSIDE_TABLE
  }

  /** Keeps a key in place of the one before. */
  set(peer: PeerId, key: PeerKey): void {
    this.delete(peer)
    this.#keys.set(peer, key)
    this.#holders.set(hexOf(key.publicKey), peer)
  }

  /** False when there was none. */
  delete(peer: PeerId): boolean {
    const key = this.#keys.get(peer)
    if (key === undefined) return false
    const hex = hexOf(key.publicKey)
    if (this.#holders.get(hex) === peer) this.#holders.delete(hex)
    return this.#keys.delete(peer)
  }
}

export function isSameKey(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && Buffer.compare(a, b) === 0
}
