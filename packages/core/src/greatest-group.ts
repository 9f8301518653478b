/**
 * Gives those of the group that is the greatest, the first of several alike; none where there is nobody. Who has to make way
 * when there is too much is chosen so: bounds by peer alone would have those with many keys go on.
 *
 * @param sizeOf gives how much one of them counts; 1 each unless given
 */
export function greatestGroup<T>(
  items: Iterable<T>,
  groupOf: (item: T) => unknown,
  sizeOf: (item: T) => number = () => 1,
): readonly T[] {
  let greatest: readonly T[] = []
  let most = Number.NEGATIVE_INFINITY
  for (const group of Map.groupBy(items, groupOf).values()) {
    const size = group.reduce((sum, item) => sum + sizeOf(item), 0)
    if (size <= most) continue
    greatest = group
    most = size
  }
  return greatest
}
