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

/**
 * Gives who has to make way for one more of `group` where there are as many as there may be: the last one of the greatest group,
 * where that has more than `group` will have; else undefined.
 */
export function whoMakesWay<T>(
  items: Iterable<T>,
  groupOf: (item: T) => string,
  group: string,
): T | undefined {
  const all = [...items]
  const crowd = greatestGroup(all, groupOf)
  const own = all.filter((item) => groupOf(item) === group).length
  return crowd.length > own + 1 ? crowd.at(-1) : undefined
}
