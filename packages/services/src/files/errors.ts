import { errorsOf, MeshError } from '@mesh/core'

/** Codes of the `MeshError`s of sharing files. */
export type FilesErrorCode =
  /** The path to offer is no file or folder, or cannot be read. */
  | 'files.unreadable'
  /** More files in a folder, or more offers, than are taken. */
  | 'files.too_many'
  /** The sender refused, with its reason. */
  | 'files.refused'
  /** The sender offers no such name any more. */
  | 'files.unknown_name'
  /** What the sender sent is no share that can be stored. */
  | 'files.bad_share'
  /** The destination exists, or cannot be written. */
  | 'files.destination'
  /** Too little room on the disk. */
  | 'files.no_space'
  /** Another process receives to the same place. */
  | 'files.locked'
  /** The same file arrived with a wrong hash again and again. */
  | 'files.corrupt'
  /** Other downloads have all the memory that lists of files may take; a later try finds room. */
  | 'files.busy'
  /** The connection broke, or nothing came for a while; a later try goes on from there. */
  | 'files.broken_off'
  /** The file changed at the sender while it was sent; a later try begins with the new one, a few times. */
  | 'files.changed'

export const filesError = errorsOf<FilesErrorCode>()

/** Faults after which another try can succeed without a person doing something. */
const PASSING: ReadonlySet<string> = new Set<FilesErrorCode>([
  'files.broken_off',
  'files.busy',
  'files.changed',
  'files.unknown_name',
])

/** Is it worth another try? Errors of the network are; those of the disk and of the sender's rules are not. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof MeshError)) return false
  return PASSING.has(error.code) || error.code.startsWith('p2p.')
}
