/** Reads files of the state folder: a pipe in the place of one would be waited for, and a device may have no end. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/**
 * Reads a file whole.
 * @param followsLinks false: a symbolic link is refused with ELOOP
 * @throws Error of the file system, and for what is no file: a folder, a pipe, a device
 */
export function readStateBytes(path: string, { followsLinks }: { readonly followsLinks: boolean }): Buffer {
  // on Windows the last two are undefined, which counts as 0 here
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const descriptor = openSync(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile() && !stat.isDirectory())
      throw new Error(`${path} is a pipe or a device, and not a file`)
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Reads a text whole. @throws as `readStateBytes` */
export function readStateText(path: string): string {
  return readStateBytes(path, { followsLinks: true }).toString('utf8')
}
