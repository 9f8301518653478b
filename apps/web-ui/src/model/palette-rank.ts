/** Ranks what the search finds: all words must be in it, and what begins with them comes first. */

export interface Rankable {
  readonly label: string
  /** Further text that it is found by: an address, an id. */
  readonly also?: string
}

/** @param most how many are given at most */
export function rank<Item extends Rankable>(
  items: readonly Item[],
  query: string,
  most: number,
): readonly Item[] {
  const wanted = query.trim().toLowerCase()
  const parts = wanted.split(/\s+/)
  const ranks: Item[][] = [[], [], []]
  for (const item of items) {
    const label = item.label.toLowerCase()
    const text = `${label} ${item.also?.toLowerCase() ?? ''}`
    if (!parts.every((part) => text.includes(part))) continue
    ranks[label.startsWith(wanted) ? 0 : label.includes(wanted) ? 1 : 2]?.push(item)
  }
  return ranks.flat().slice(0, most)
}
