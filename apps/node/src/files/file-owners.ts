/** Who else of this machine's users could read or replace a file of the node. Windows has no such modes: nobody there. */
import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { handedDescriptor } from './read-named-file.ts'

type Permissions = Pick<Stats, 'mode' | 'uid' | 'gid'>

/** The user that the node runs as. */
export interface User {
  readonly uid: number
  readonly gid: number
  /** Who became root by sudo for this process, and so can do all that root can. */
  readonly sudoUid?: number
}

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

/** True where of all others the folder's group alone may put files into it. */
export function isGroupAlone({ mode }: Pick<Stats, 'mode'>): boolean {
  return (mode & OTHERS_WRITE) === 0
}

/** True when the mode of a folder lets somebody else put another file in the place of one of this user's. */
export function mayExchangeFiles(folder: Permissions, user: User): boolean {
  return (folder.mode & STICKY) === 0 && isWritableByOthers(folder, user)
}

/**
 * Gives one step of a symbolic link. Undefined for other files, and for the system's own links of descriptors (`/dev/stdin`, and
 * `/dev/fd/63` by the shell's `<(...)`).
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
