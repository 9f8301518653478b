import type { Conversation } from './conversation.ts'
import { filesError } from './errors.ts'
import { MAX_MANIFEST_BYTES, MAX_MANIFEST_ENTRIES } from './limits.ts'
import { checkManifest, type Manifest, type ManifestEntry } from './manifest.ts'
import { refusalError } from './refusal.ts'

/** @throws MeshError `files.refused`, `files.unknown_name`, `files.bad_share`, `files.broken_off` */
export async function receiveManifest(conversation: Conversation): Promise<Manifest> {
  const offer = await conversation.next()
  if (offer === undefined) throw filesError('files.broken_off', 'the sender closed the connection')
  if (offer.type === 'refusal') throw refusalError(offer.code, offer.reason)
  if (offer.type !== 'offer') throw filesError('files.bad_share', `the sender sent ${offer.type} first`)
  if (offer.entryCount > MAX_MANIFEST_ENTRIES) {
    throw filesError('files.bad_share', `the share has more than ${MAX_MANIFEST_ENTRIES} files`)
  }
  const { name, isFolder, entryCount } = offer
  const manifest = { name, isFolder, entries: await receiveEntries(conversation, entryCount) }
  const problem = await checkManifest(manifest)
  if (problem !== undefined) throw filesError('files.bad_share', `the share cannot be stored: ${problem}`)
  return manifest
}

async function receiveEntries(conversation: Conversation, count: number): Promise<ManifestEntry[]> {
  const entries: ManifestEntry[] = []
  let textBytes = 0
  while (entries.length < count) {
    const part = await conversation.next()
    if (part === undefined) throw filesError('files.broken_off', 'the sender closed the connection')
    if (part.type !== 'entries') throw filesError('files.bad_share', `${part.type} inside a list of files`)
    for (const entry of part.entries) {
      entries.push(entry)
      textBytes += Buffer.byteLength(entry.path)
    }
    if (entries.length > count || textBytes > MAX_MANIFEST_BYTES) {
      throw filesError('files.bad_share', 'the list of files is longer than announced')
    }
  }
  return entries
}
