/** Shows what is in a share of another member. */
import type { SharedFilesView } from '@mesh/api-contract'
import { MeshError, printable, toError } from '@mesh/core'
import type { Downloads, OfferedManifest } from '@mesh/services'

/** Entries that one answer lists. */
const MAX_LISTED = 1_000

/** @throws MeshError `services.bad_name`, `files.not_told` */
export async function lookInto(
  downloads: Downloads,
  name: string,
  signal: AbortSignal,
): Promise<OfferedManifest> {
  try {
    return await downloads.look(name, signal)
  } catch (error) {
    if (error instanceof MeshError && error.code === 'services.bad_name') throw error
    throw new MeshError('files.not_told', toError(error).message, { cause: error })
  }
}

export function sharedFilesView(name: string, { isFolder, entries }: OfferedManifest): SharedFilesView {
  const files = entries.filter((entry) => !entry.isFolder)
  return {
    Name: name,
    IsFolder: isFolder,
    Files: files.length,
    TotalBytes: files.reduce((sum, { size }) => sum + size, 0),
    Entries: entries.slice(0, MAX_LISTED).map((entry) => ({
      Path: printable(entry.path),
      IsFolder: entry.isFolder,
      Bytes: entry.size,
      ModifiedAt: new Date(Math.min(Math.max(entry.modifiedMs, 0), MAX_TIME_MS)).toISOString(),
    })),
    More: Math.max(0, entries.length - MAX_LISTED),
  }
}

/** The last day of the year 9999, in ms. */
const MAX_TIME_MS = 253_402_214_400_000
