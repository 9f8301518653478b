/** One step of a mutation, and the numbers that messages hold. */

/** One step: what is done, where (as a share of the length), how much, and with which bytes. */
export interface Mutation {
  readonly kind:
    | 'flip'
    | 'set'
    | 'insert'
    | 'delete'
    | 'repeat'
    | 'truncate'
    | 'splice'
    | 'number'
    | 'word'
    | 'structure'
  readonly at: number
  readonly count: number
  readonly bytes: Uint8Array
}

export function varint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = value
  do {
    const byte = Number(rest & 0x7fn)
    rest >>= 7n
    bytes.push(rest === 0n ? byte : byte | 0x80)
  } while (rest !== 0n)
  return Uint8Array.from(bytes)
}
