/** Who else of this machine's users could read or replace a file of the node. Windows has no such modes: nobody there. */
import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { shellWord } from '../log/shell-word.ts'
import { handedDescriptor } from './read-named-file.ts'

type Permissions = Pick<Stats, 'mode' | 'uid' | 'gid'>

/** The user that the node runs as. */
export interface User {
  readonly uid: number
  readonly gid: number
  /** Who became root by sudo for this process, and so can do all that root can. */
  readonly sudoUid?: number
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
  if (uid === undefined || gid === undefined) return undefined
  const { SUDO_UID = '' } = process.env
  return { uid, gid, ...(uid === ROOT && /^\d+$/.test(SUDO_UID) && { sudoUid: Number(SUDO_UID) }) }
}

/** Root can do everything anyway, and who became root by sudo, so that their files are as good as one's own. */
export function isForeign({ uid }: Pick<Stats, 'uid'>, user: User): boolean {
  return uid !== user.uid && uid !== ROOT && uid !== user.sudoUid
}

/**
 * True when somebody else can put files into the folder. A group that is the user's own may, as a umask of
 * 002 lets it.
 */
export function isWritableByOthers({ mode, gid }: Permissions, user: User): boolean {
  return (mode & OTHERS_WRITE) !== 0 || ((mode & GROUP_WRITES) !== 0 && gid !== user.gid && gid !== ROOT)
}

/** True when somebody else can put another file in the place of one of this user's in the folder. */
export function isReplaceableByOthers(folder: Permissions, user: User): boolean {
  return isForeign(folder, user) || ((folder.mode & STICKY) === 0 && isWritableByOthers(folder, user))
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
  if ((stat.mode & OTHERS_READ_OR_WRITE) !== 0)
    return `other users of this machine may read ${file}, and whoever has it can join the network: chmod 600 ${told}`
  const folder = dirname(resolve(file))
  const folderStat = statSync(folder, { throwIfNoEntry: false })
  if (folderStat === undefined || !isReplaceableByOthers(folderStat, user)) return undefined
  const command = isForeign(folderStat, user) ? `chown ${user.uid}` : 'chmod go-w'
  return `other users of this machine can put another file in the place of ${file}, and so another network: ${command} ${shellWord(folder)}`
}

/**
 * Where a symbolic link leads to, one step of it; undefined for what is no link, and for links that the system itself
 * makes for descriptors (`/dev/stdin`, and `/dev/fd/63` by the shell's `<(...)`).
 */
export function linkTarget(file: string): string | undefined {
  if (handedDescriptor(file) !== undefined) return undefined
  const path = resolve(file)
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return undefined
  return resolve(dirname(path), readlinkSync(path))
}

/** The uid of somebody else who made this symbolic link, and could let it lead elsewhere at any time. */
export function foreignLinkOwner(file: string, user: User | undefined = currentUser()): number | undefined {
  const stat = user === undefined ? undefined : lstatSync(file, { throwIfNoEntry: false })
  return user !== undefined && stat?.isSymbolicLink() === true && isForeign(stat, user) ? stat.uid : undefined
}
