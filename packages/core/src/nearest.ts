/** The candidate that a person most likely meant, or undefined when none is near. */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  const bound = Math.max(1, Math.min(3, Math.floor(word.length / 3)))
  let best: string | undefined
  let bestDistance = bound + 1
  for (const candidate of candidates) {
    if (candidate === word) continue
    if (word.length >= 3 && candidate.startsWith(`${word}-`)) return candidate
    // words of such different lengths are further apart, and a long text would take long to compare
    if (Math.abs(word.length - candidate.length) > bound) continue
    const distance = editDistance(word, candidate)
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** Insertions, removals, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      )
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1)
      }
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[to.length] ?? 0
}
