/** Tells people of files of secrets that other users of this machine can read or exchange. */
import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { shellWord } from '../words/shell-word.ts'
import { currentUser, isForeign, type User } from './file-owners.ts'
import { findSharedPart } from './way-to.ts'

const OTHERS_READ_OR_WRITE = 0o077

/**
 * Says in a sentence what is wrong with the access rights of a file of secrets, and what to type. Undefined when nothing is wrong, for
 * pipes and descriptors (`/dev/fd/63`, made by the shell's `<(...)`), and for files that cannot be examined.
 */
export function describeExposedFile(
  file: string,
  user: User | undefined = currentUser(),
): string | undefined {
  const stat = user === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
  if (user === undefined || stat?.isFile() !== true) return undefined
  const told = shellWord(file)
  if (isForeign(stat, user)) {
    return `${file} belongs to another user of this machine (uid ${stat.uid}), who can read and change it, and anyone who has it can join the network: chown ${user.uid} ${told} && chmod 600 ${told}`
  }
  if ((stat.mode & OTHERS_READ_OR_WRITE) !== 0)
    return `other users of this machine may read ${file}, and anyone who has it can join the network: chmod 600 ${told}`
  return describeExchangeable(file, user)
}

function describeExchangeable(file: string, user: User): string | undefined {
  const folder = dirname(resolve(file))
  const part = findSharedPart(folder, user, { holdsOthersFiles: true })
  if (part === undefined) return undefined
  const { path, owner } = part
  const told = shellWord(path)
  if (owner === undefined)
    return `other users of this machine can put another file in the place of ${file}, and so another network: chmod go-w ${told}`
  const mended =
    path === folder ? `chown ${user.uid} ${told}` : 'keep it in a folder that is yours, below folders of root'
  return `another user of this machine (uid ${owner}), who owns ${path}, can put another file in the place of ${file}, and so another network: ${mended}`
}
