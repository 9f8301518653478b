/** One entry's envelope, as it is signed and replicated (docs/WIRE.md 4.2). Never changed in place. */
export interface Entry {
  /** JSON text exactly as signed; empty in a tombstone. */
  readonly value: string
  /** Base58 peer id of the signer; empty in an unsigned entry of an open bucket. */
  readonly owner: string
  /** 64 bits unsigned, nanoseconds by custom. */
  readonly version: bigint
  /** Unix time in seconds, signed; outside the safe range it never decodes. */
  readonly updatedAt: number
  /** True in a tombstone. */
  readonly deleted: boolean
  /** Raw Ed25519 signature, 64 bytes. */
  readonly sig: Uint8Array | null
}

/** An entry and where it stands. */
export interface KeyedEntry {
  readonly bucket: string
  readonly key: string
  readonly entry: Entry
}

/** Stands for an entry that this ledger removed without a tombstone of its owner: nobody signed that. */
export function asRemoved(entry: Entry): Entry {
  return { ...entry, value: '', deleted: true, sig: null }
}
