/** Quantities as people read them. */

/** The two greatest units: `3 d 4 h`, `12 min 5 s`. */
export function formatTimeSpan(seconds: number): string {
  const counts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ] as const
  const first = counts.findIndex(([count]) => count > 0)
  if (first === -1) return '0 s'
  const shown = counts.slice(first, first + 2).filter(([count]) => count > 0)
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ')
}

/** `512 B`, `1.5 kB`, `20.0 GB`: thousands, not 1,024s. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  for (const [unit, size] of [
    ['kB', 1e3],
    ['MB', 1e6],
    ['GB', 1e9],
  ] as const) {
    if (bytes < size * 1_000) return `${(bytes / size).toFixed(1)} ${unit}`
  }
  return `${(bytes / 1e12).toFixed(1)} TB`
}
