/** Who else of this machine's users could read or replace a file of the node. Windows has no such modes: nobody there. */
import { lstatSync, type Stats, statSync } from 'node:fs'
import { shellWord } from '../log/shell-word.ts'

type Permissions = Pick<Stats, 'mode' | 'uid' | 'gid'>

/** The user that the node runs as. */
export interface User {
  readonly uid: number
  readonly gid: number
}

const OTHERS_READ_OR_WRITE = 0o077
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
/** The mode bit of a folder, as /tmp is, in which a file is renamed or removed by its owner alone. */
const STICKY = 0o1000
const ROOT = 0

/** Undefined where the system has no user ids. */
export function currentUser(): User | undefined {
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()]
  return uid === undefined || gid === undefined ? undefined : { uid, gid }
}

/** Root can do everything anyway, so that its files are as good as one's own. */
export function isForeign({ uid }: Pick<Stats, 'uid'>, user: User): boolean {
  return uid !== user.uid && uid !== ROOT
}

/**
 * True when somebody else can put files into the folder. A group that is the user's own may, as a umask of
 * 002 lets it.
 */
export function isWritableByOthers({ mode, gid }: Permissions, user: User): boolean {
  if ((mode & STICKY) !== 0) return false
  return (mode & OTHERS_WRITE) !== 0 || ((mode & GROUP_WRITES) !== 0 && gid !== user.gid && gid !== ROOT)
}

/**
 * Says what is wrong with who may read or replace a file of secrets, as a sentence that ends with what to
 * type. Undefined when nothing is, for pipes and descriptors (`/dev/fd/63`, made by the shell's `<(...)`),
 * which have no lasting mode, and for files that cannot be looked at: who reads those says what is wrong.
 */
export function describeExposedFile(
  file: string,
  user: User | undefined = currentUser(),
): string | undefined {
  const stat = user === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
  if (user === undefined || stat?.isFile() !== true) return undefined
  const told = shellWord(file)
  if (isForeign(stat, user)) {
    return `${file} belongs to another user of this machine (uid ${stat.uid}), who can read and change it, and whoever has it can join the network: chown ${user.uid} ${told} && chmod 600 ${told}`
  }
  if ((stat.mode & OTHERS_READ_OR_WRITE) === 0) return undefined
  return `other users of this machine may read ${file}, and whoever has it can join the network: chmod 600 ${told}`
}

/** The uid of somebody else who made this symbolic link, and could let it lead elsewhere at any time. */
export function foreignLinkOwner(file: string, user: User | undefined = currentUser()): number | undefined {
  const stat = user === undefined ? undefined : lstatSync(file, { throwIfNoEntry: false })
  return user !== undefined && stat?.isSymbolicLink() === true && isForeign(stat, user) ? stat.uid : undefined
}
