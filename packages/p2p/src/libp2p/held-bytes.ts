/** Bounds the bytes of unfinished frames, and of long frames that wait, of all peers together. */
import { Scope } from '@mesh/core/limits'
import { WaitingBytes } from '../waiting-bytes.ts'
import {
  HELD_SPARE_BYTES,
  MAX_HELD_BYTES,
  MAX_HELD_BYTES_PER_PEER,
  MAX_STRANGERS_HELD_BYTES,
} from './limits.ts'

interface HolderInit {
  readonly peer: string
  /** The group that its connection counts under: `addressGroupOf`. */
  readonly address: string
  /** Ends the stream whose frame it is. */
  readonly abort: (error: Error) => void
}

interface HeldBytesInit {
  readonly isMember: (peer: string) => boolean
  /** The network's longest gossip frame: each of the bounds has room for one. */
  readonly maxFrameBytes: number
}

export class HeldBytes {
  readonly #isMember: (peer: string) => boolean
  readonly #scope: Scope

  /** Strangers have room for a longest frame: it may be the first by which a legacy member shows that it is one. */
  constructor({ isMember, maxFrameBytes }: HeldBytesInit) {
    this.#isMember = isMember
    const longest = maxFrameBytes + HELD_SPARE_BYTES
    const perPeer = Math.max(MAX_HELD_BYTES_PER_PEER, longest)
    const unproven = Math.max(MAX_STRANGERS_HELD_BYTES, longest)
    const all = MAX_HELD_BYTES + perPeer - MAX_HELD_BYTES_PER_PEER
    this.#scope = new Scope({ all, perPeer, unproven, evict: 'largest' })
  }

  /** Gives the function that is told how many bytes one stream holds. */
  track({ peer, address, abort }: HolderInit): (bytes: number) => void {
    const isUnproven = () => !this.#isMember(peer)
    const end = () => abort(new Error('unfinished frames hold too much'))
    const waiting = new WaitingBytes({ peer, address, isUnproven, scope: this.#scope, end })
    return (bytes) => waiting.set(bytes)
  }

  /** The bytes of all frames that are held. */
  get bytes(): number {
    return this.#scope.total
  }
}
