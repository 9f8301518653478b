import { fnv1a32 } from '@mesh/core'

/** The element with the greatest FNV-1a hash (32 bits, over UTF-8); the first of equal ones. Undefined of none. */
export function leaderOf(ids: readonly string[]): string | undefined {
  let leader: string | undefined
  let greatest = -1
  for (const id of ids) {
    const hash = fnv1a32(id)
    if (hash <= greatest) continue
    leader = id
    greatest = hash
  }
  return leader
}
