/** A binary heap of events by time, then by order. */

export interface Event {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

function isBefore(a: Event | undefined, b: Event | undefined): boolean {
  if (a === undefined || b === undefined) return a !== undefined
  return a.at === b.at ? a.order < b.order : a.at < b.at
}

/** Adds an event at its place. */
export function push(heap: Event[], event: Event): void {
  let at = heap.push(event) - 1
  while (at > 0) {
    const above = (at - 1) >> 1
    if (!isBefore(event, heap[above])) break
    swap(heap, at, above)
    at = above
  }
}

/** Takes the first event away. */
export function pop(heap: Event[]): void {
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

function swap(heap: Event[], a: number, b: number): void {
  const [first, second] = [heap[a], heap[b]]
  if (first === undefined || second === undefined) return
  heap[a] = second
  heap[b] = first
}
