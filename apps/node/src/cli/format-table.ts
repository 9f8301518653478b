import { printableName } from '@mesh/core'

/** Columns aligned by spaces, safe for a terminal; every line ends with a newline. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(printableName))
  const widths = head.map((_, column) => Math.max(...lines.map((row) => (row[column] ?? '').length)))
  return lines
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}
