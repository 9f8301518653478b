/** The files that lie beside the file of a ledger. */

/** Where the copy of a ledger's file is. */
export function copyPathOf(path: string): string {
  return `${path}.copy`
}

/** SQLite's logs, which belong to one file alone. */
export const LOG_SUFFIXES = ['-wal', '-journal', '-shm']
