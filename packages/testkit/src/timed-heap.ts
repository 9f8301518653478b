/** A binary heap by time, then by order: each entry is before its two children at 2n + 1 and 2n + 2. */

/** An element of the heap: something that is due at a time. */
export interface Timed {
  /** When its turn is, in ms. */
  readonly at: number
  /** The order of elements that are due at the same time: the lower number is first. */
  readonly order: number
}

function isBefore(a: Timed | undefined, b: Timed | undefined): boolean {
  if (a === undefined || b === undefined) return a !== undefined
  return a.at === b.at ? a.order < b.order : a.at < b.at
}

/** Adds an entry at its place; the first one stands at index 0. */
export function pushTimed<T extends Timed>(heap: T[], timed: T): void {
  let at = heap.push(timed) - 1
  while (at > 0) {
    const above = (at - 1) >> 1
    if (!isBefore(timed, heap[above])) break
    swap(heap, at, above)
    at = above
  }
}

/** Takes the first entry away. */
export function popFirst(heap: Timed[]): void {
  swap(heap, 0, heap.length - 1)
  heap.pop()
  for (let at = 0; ; ) {
    const left = 2 * at + 1
    const least = isBefore(heap[left + 1], heap[left]) ? left + 1 : left
    if (!isBefore(heap[least], heap[at])) return
    swap(heap, at, least)
    at = least
  }
}

function swap(heap: Timed[], a: number, b: number): void {
  const [first, second] = [heap[a], heap[b]]
  if (first === undefined || second === undefined) return
  heap[a] = second
  heap[b] = first
}
