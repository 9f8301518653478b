/** Refuses to keep what the node is in a folder that another user of this machine could exchange. */
import { realpathSync } from 'node:fs'
import { relative } from 'node:path'
import { MeshError } from '@mesh/core'
import { shellWord } from '../words/shell-word.ts'
import { currentUser } from './file-owners.ts'
import { findSharedPart, type SharedPart } from './way-to.ts'

export interface KeptIn {
  /** The folder that the flag names; those within it are the node's own. */
  readonly named: string
  readonly flag: '--state-dir' | '--ledger-state'
}

/**
 * Whoever can put files into the folder, or another folder in its place, could give the node another identity or ledger.
 * @throws MeshError `node.state_unusable`, with the folder or symbolic link that lets them, and what to type
 */
export function refuseSharedFolder(folder: string, { named, flag }: KeptIn): void {
  const user = currentUser()
  const part = user === undefined ? undefined : findSharedPart(folder, user, { holdsOthersFiles: false })
  if (user === undefined || part === undefined) return
  const ways = [mendingCommand(part, { uid: user.uid, named }), wayOfGroup(part)].filter(
    (way) => way !== undefined,
  )
  throw new MeshError('node.state_unusable', describe(part), {
    hint: `They could give this node another identity or ledger: ${[...ways, `choose another ${flag}`].join(', or ')}.`,
  })
}

/** The same for people who ask before a start, of a folder in which others' files may stand. Undefined for one that is safe. */
export function describeSharedFolder(folder: string): string | undefined {
  const user = currentUser()
  const part = user === undefined ? undefined : findSharedPart(folder, user, { holdsOthersFiles: true })
  return part === undefined ? undefined : describe(part)
}

function describe({ path, kind, owner, group }: SharedPart): string {
  if (owner !== undefined) return `the ${kind} ${path} belongs to another user of this machine (uid ${owner})`
  const writers = group === undefined ? 'other users' : `users of group ${group}`
  return `${writers} of this machine can write to the ${kind} ${path}`
}

/** Undefined for folders above the node's own that are another user's: they stay so. */
function mendingCommand(
  { path, owner, isOwned }: SharedPart,
  { uid, named }: { uid: number; named: string },
) {
  const isOwn = path === named || !relative(realpathSync(named), path).startsWith('..')
  if (owner !== undefined) return isOwn ? `chown -h ${uid} ${shellWord(path)}` : undefined
  // of a folder that is root's a user could not write to what only its owner may
  const chown = isOwn && !isOwned ? `chown ${uid} ${shellWord(path)} && ` : ''
  return `${chown}chmod go-w ${shellWord(path)}`
}

/** A volume of Kubernetes gets its group, and the right to write, at each start anew. */
function wayOfGroup({ group }: SharedPart): string | undefined {
  if (group === undefined) return undefined
  return `start the node with ${group} as its own group (in Kubernetes \`runAsGroup: ${group}\` beside \`fsGroup: ${group}\`)`
}
