/** The files that lie beside the file of a ledger. */

/** Where the copy of a ledger's file is. */
export function copyPathOf(path: string): string {
  return `${path}.copy`
}

/** SQLite's logs, which belong to one file alone. */
export const LOG_SUFFIXES = ['-wal', '-journal', '-shm']

/** Where a log is kept that was not what was written, until it is set aside: SQLite removes it unread. */
export function brokenLogOf(path: string): string {
  return `${path}.broken-log`
}
