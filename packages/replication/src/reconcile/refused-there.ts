/** Remembers what peers refused of what this node sent them, so that it is not sent again and again. */
import type { PeerId } from '@mesh/core'
import { entryHash, type KeyedEntry } from '@mesh/ledger'
import { SHORT_HASH_BYTES } from '../limits.ts'
import { hexOf } from '../session/position.ts'
import type { Hello, Refusal } from '../session/sync-message.ts'
import { createRefusalMemory, type RefusalMemory } from './refusals.ts'

/** The most codes that are counted by name: they are a remote's words. */
const MAX_COUNTED_CODES = 32

/** A peer, and where its ledger stood as a session with it began. */
export interface RefusingPeer {
  readonly peer: PeerId
  readonly hello: Hello | undefined
}

export class RefusedThere {
  /** How often each code was said. */
  readonly counts: Record<string, number> = {}
  readonly #memory: RefusalMemory
  readonly #onRefused: (keyed: KeyedEntry, code: string) => void

  constructor(livenessMs: number, onRefused: (keyed: KeyedEntry, code: string) => void) {
    this.#memory = createRefusalMemory({ livenessMs })
    this.#onRefused = onRefused
  }

  /** True for an entry, by its short hash, that the peer would refuse again. */
  has(by: RefusingPeer, hashOf: () => Uint8Array, nowMs: number): boolean {
    if (this.#memory.size === 0) return false
    const hash = hexOf(hashOf())
    return this.#memory.has(idOf(by, hash), nowMs) || this.#memory.has(gatedIdOf(by, hash), nowMs)
  }

  /** @param sent the entries of the message that the peer answered so */
  add(by: RefusingPeer, refused: readonly Refusal[], sent: readonly KeyedEntry[], nowMs: number): void {
    const byHash = new Map(
      sent.map((keyed) => [hexOf(entryHash(keyed).subarray(0, SHORT_HASH_BYTES)), keyed]),
    )
    for (const { hash: bytes, code } of refused) {
      const hash = hexOf(bytes)
      const keyed = byHash.get(hash)
      if (keyed === undefined) continue
      this.#memory.add(code === 'GATED' ? gatedIdOf(by, hash) : idOf(by, hash), code, nowMs)
      this.#onRefused(keyed, code)
      this.#count(code)
    }
  }

  /** Forgets what was refused for this reason, by one peer where it is named. */
  forget(code: string, peer?: PeerId): void {
    this.#memory.forget(code, peer)
  }

  /** Only codes that look like ours get a counter. */
  #count(code: string): void {
    const known = /^[A-Z_]{3,16}$/.test(code) && Object.keys(this.counts).length < MAX_COUNTED_CODES
    const name = known || Object.hasOwn(this.counts, code) ? code : 'OTHER'
    this.counts[name] = (this.counts[name] ?? 0) + 1
  }
}

function idOf({ peer }: RefusingPeer, hash: string): string {
  return peer + hash
}

/** Its ledger says whom it lets in: while that is as it was, it refuses the same. */
function gatedIdOf({ peer, hello }: RefusingPeer, hash: string): string {
  return `${peer}${hash} at ${hello === undefined ? '' : hexOf(hello.digest)}`
}
