/** Finds what changed between two texts, line by line. */

export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'new'
  readonly text: string
}

/** Lines that stayed the same and are not shown, between those that are. */
interface Fold {
  readonly kind: 'fold'
  readonly count: number
}

/** How many lines around a change are kept to read it by. */
const CONTEXT_LINES = 2
/** Comparing each line with each takes this many steps at most; longer texts are shown as replaced. */
const MAX_STEPS = 250_000

/** The lines of both texts in order: kept, gone and new. Undefined stands for no text. */
export function diffLines(before: string | undefined, after: string | undefined): readonly DiffLine[] {
  const old = before?.split('\n') ?? []
  const next = after?.split('\n') ?? []
  const start = countSame(old, next)
  const end = countSame(old.slice(start).toReversed(), next.slice(start).toReversed())
  const middle = diffMiddle(old.slice(start, old.length - end), next.slice(start, next.length - end))
  return [
    ...linesOf('same', next.slice(0, start)),
    ...middle,
    ...linesOf('same', next.slice(next.length - end)),
  ]
}

/** Takes out long runs of lines that stayed the same. */
export function foldLines(lines: readonly DiffLine[]): readonly (DiffLine | Fold)[] {
  const near = new Set<number>()
  for (const [at, { kind }] of lines.entries()) {
    if (kind === 'same') continue
    for (let line = at - CONTEXT_LINES; line <= at + CONTEXT_LINES; line++) near.add(line)
  }
  const shown: (DiffLine | Fold)[] = []
  for (const [at, line] of lines.entries()) {
    const last = shown.at(-1)
    if (near.has(at)) shown.push(line)
    else if (last?.kind === 'fold') shown[shown.length - 1] = { kind: 'fold', count: last.count + 1 }
    else shown.push({ kind: 'fold', count: 1 })
  }
  return shown
}

function countSame(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((line, at) => line !== b[at])
  return differs < 0 ? a.length : differs
}

function linesOf(kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] {
  return texts.map((text) => ({ kind, text }))
}

/** Keeps the longest sequence of lines that both have. */
function diffMiddle(old: readonly string[], next: readonly string[]): readonly DiffLine[] {
  if (old.length * next.length > MAX_STEPS) return [...linesOf('gone', old), ...linesOf('new', next)]
  const kept = keptCounts(old, next)
  const lines: DiffLine[] = []
  let [at, to] = [0, 0]
  while (at < old.length || to < next.length) {
    const [gone, added] = [old[at], next[to]]
    if (gone !== undefined && gone === added) {
      lines.push({ kind: 'same', text: gone })
      at++
      to++
    } else if (gone !== undefined && (added === undefined || kept(at + 1, to) >= kept(at, to + 1))) {
      lines.push({ kind: 'gone', text: gone })
      at++
    } else if (added !== undefined) {
      lines.push({ kind: 'new', text: added })
      to++
    }
  }
  return lines
}

/** How many lines both have in common, in order, from a line of each on. */
function keptCounts(old: readonly string[], next: readonly string[]): (at: number, to: number) => number {
  const width = next.length + 1
  const counts = new Uint32Array((old.length + 1) * width)
  const count = (at: number, to: number) => counts[at * width + to] ?? 0
  for (let at = old.length - 1; at >= 0; at--) {
    for (let to = next.length - 1; to >= 0; to--) {
      counts[at * width + to] =
        old[at] === next[to] ? count(at + 1, to + 1) + 1 : Math.max(count(at + 1, to), count(at, to + 1))
    }
  }
  return count
}
