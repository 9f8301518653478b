/** Reads files of the state folder: a pipe in the place of one would be waited for, and a device may have no end. */
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { readBounded } from './read-bounded.ts'

/** The longest file of the state folder that is read whole: the node's own have 68 bytes to some hundred kilobytes. */
const MAX_STATE_FILE_BYTES = 16 * 1024 * 1024

/**
 * Reads a file whole.
 * @param followsLinks false: a symbolic link is refused with ELOOP
 * @throws Error of the file system, for what is no file (a folder, a pipe, a device), and for one of more than 16 MiB
 */
export function readStateBytes(path: string, { followsLinks }: { readonly followsLinks: boolean }): Buffer {
  // on Windows the last two are undefined, which counts as 0 here
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const descriptor = openSync(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile() && !stat.isDirectory())
      throw new Error(`${path} is a pipe or a device, and not a file`)
    return readBounded(descriptor, { maxBytes: MAX_STATE_FILE_BYTES, fromStart: true })
  } finally {
    closeSync(descriptor)
  }
}

/** Reads a text whole. @throws as `readStateBytes` */
export function readStateText(path: string): string {
  return readStateBytes(path, { followsLinks: true }).toString('utf8')
}
