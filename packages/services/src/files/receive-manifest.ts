import type { Place } from '@mesh/core/limits'
import type { Conversation } from './conversation.ts'
import { filesError } from './errors.ts'
import type { LeftOut } from './left-out.ts'
import { ENTRY_BYTES, MAX_MANIFEST_ENTRIES } from './limits.ts'
import { type Manifest, ManifestCheck, type ManifestEntry } from './manifest.ts'
import { pathByteLength } from './path-bytes.ts'
import { refusalError } from './refusal.ts'

/** A list that another member sent. */
export interface OfferedManifest extends Manifest {
  /** The entries that the sender does not send. */
  readonly leftOut: LeftOut
}

/**
 * @param place what the list takes of the memory for all lists
 * @throws MeshError `files.refused`, `files.unknown_name`, `files.bad_share`, `files.broken_off`, `files.busy`
 */
export async function receiveManifest(
  conversation: Conversation,
  place: Place | undefined,
): Promise<OfferedManifest> {
  const offer = await conversation.next()
  if (offer === undefined) throw filesError('files.broken_off', 'the sender closed the connection')
  if (offer.type === 'refusal') throw refusalError(offer.code, offer.reason)
  if (offer.type !== 'offer') throw filesError('files.bad_share', `the sender sent ${offer.type} first`)
  if (offer.entryCount > MAX_MANIFEST_ENTRIES) {
    throw filesError('files.bad_share', `the share has more than ${MAX_MANIFEST_ENTRIES} files`)
  }
  const { name, isFolder, entryCount, leftOut } = offer
  const check = new ManifestCheck(offer)
  const entries: ManifestEntry[] = []
  while (entries.length < entryCount) {
    for (const entry of await nextEntries(conversation)) {
      if (entries.length === entryCount) {
        throw filesError('files.bad_share', 'the list of files is longer than announced')
      }
      requireStorable(check.add(entry))
      takeRoom(place, pathByteLength(entry.path) + ENTRY_BYTES)
      entries.push(entry)
    }
  }
  requireStorable(check.end())
  return { name, isFolder, entries, leftOut }
}

async function nextEntries(conversation: Conversation): Promise<readonly ManifestEntry[]> {
  const part = await conversation.next()
  if (part === undefined) throw filesError('files.broken_off', 'the sender closed the connection')
  if (part.type !== 'entries') throw filesError('files.bad_share', `${part.type} inside a list of files`)
  return part.entries
}

function takeRoom(place: Place | undefined, bytes: number): void {
  if (place?.resize(place.size + bytes) === true) return
  throw filesError('files.busy', 'the lists of other downloads take all the room that lists have')
}

function requireStorable(problem: string | undefined): void {
  if (problem !== undefined) throw filesError('files.bad_share', `the share cannot be stored: ${problem}`)
}
