/** Median and 99th percentile of numbers, rounded to `digits`. */
export function spread(numbers: readonly number[], digits = 2) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (share: number) =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN, digits)
  return { count: sorted.length, median: at(0.5), p99: at(0.99) }
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits))
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
}
