/**
 * Says who could replace one of this user's folders: the owners of folders and symbolic links on its path, and everybody who may write
 * to such a folder. sshd's StrictModes judges the same.
 */
import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join, parse, resolve, sep } from 'node:path'
import { isForeign, isGroupAlone, isWritableByOthers, mayExchangeFiles, type User } from './file-owners.ts'

/** A folder or symbolic link on the way to a folder, which another user could exchange. */
export interface SharedPart {
  readonly path: string
  readonly kind: 'folder' | 'symbolic link'
  /** The uid of the other user who owns it; undefined where others may write to it. */
  readonly owner?: number
  /** The gid of the group that may write to it, where nobody else of the others may. */
  readonly group?: number
  /** True where it is this user's own. */
  readonly isOwned: boolean
}

interface Part {
  readonly path: string
  readonly stat: Stats
}

/** The most symbolic links that the system follows on one way. */
const MAX_LINKS = 40
/** The map of a process's users where it knows all of the machine's. */
const ALL_USERS = '0 0 4294967295'

/**
 * The first part of the way to a folder, from the root on, that another user could exchange. The folder itself may not be
 * one into which others write at all, unless it `holdsOthersFiles`.
 * @throws Error of the file system
 */
export function findSharedPart(
  folder: string,
  user: User,
  { holdsOthersFiles }: { readonly holdsOthersFiles: boolean },
): SharedPart | undefined {
  const parts = wayTo(folder)
  const unknown = unknownOwner()
  for (const [index, { path, stat }] of parts.entries()) {
    const isLast = index === parts.length - 1
    const kind = stat.isSymbolicLink() ? 'symbolic link' : 'folder'
    if (isForeign(stat, user) && (isLast || stat.uid !== unknown))
      return { path, kind, owner: stat.uid, isOwned: false }
    // beside others' files, as in /tmp, a folder is safe; within the node's own a file that is not there yet is not
    const judge = isLast && !holdsOthersFiles ? isWritableByOthers : mayExchangeFiles
    if (kind === 'folder' && judge(stat, user)) {
      const isOwned = stat.uid === user.uid
      return { path, kind, isOwned, ...(isGroupAlone(stat) && { group: stat.gid }) }
    }
  }
  return undefined
}

/** The folders and symbolic links through which the system comes to a path, in its order; the path's own target is last. */
function wayTo(path: string): readonly Part[] {
  const start = resolve(path)
  let place = parse(start).root
  let rest = namesOf(start)
  const way: Part[] = [{ path: place, stat: lstatSync(place) }]
  for (let links = 0; rest.length > 0; ) {
    const [name = '', ...after] = rest
    const next = name === '..' ? dirname(place) : join(place, name)
    const stat = lstatSync(next)
    way.push({ path: next, stat })
    if (!stat.isSymbolicLink()) {
      place = next
      rest = after
      continue
    }
    links += 1
    if (links > MAX_LINKS) throw new Error(`${path} leads over more than ${MAX_LINKS} symbolic links`)
    const target = readlinkSync(next)
    if (resolve(target) === target) place = parse(target).root
    rest = [...namesOf(target), ...after]
  }
  return way
}

function namesOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((name) => name !== '' && name !== '.')
}

/**
 * The uid that files have whose owner this process's user namespace does not know, as folders of the machine's root have in a
 * container without it. Undefined where all users are known.
 */
function unknownOwner(): number | undefined {
  try {
    if (readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/).join(' ') === ALL_USERS)
      return undefined
    return Number(readFileSync('/proc/sys/kernel/overflowuid', 'utf8'))
  } catch {
    return undefined
  }
}
