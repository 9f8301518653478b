/** Asks the member that offers a share what is in it, and fetches nothing. */
import { BUCKETS, toError } from '@mesh/core'
import type { Scope } from '@mesh/core/limits'
import { findProvider } from '../find-provider.ts'
import { FILE_PROTOCOL } from '../protocols.ts'
import { checkServiceName } from '../services/service-name.ts'
import { createConversation } from './conversation.ts'
import { filesError } from './errors.ts'
import { MAX_FILE_MESSAGE_BYTES } from './limits.ts'
import type { FilesComponents } from './ports.ts'
import { type OfferedManifest, receiveManifest } from './receive-manifest.ts'

export interface ListShareInit {
  readonly name: string
  /** Bounds the memory of this process for the lists of what comes: `LISTS`. */
  readonly lists: Scope
  readonly signal: AbortSignal
}

/** @throws MeshError `files.*`, `services.bad_name`; the signal's reason */
export async function listShare(
  { name, lists, signal }: ListShareInit,
  { network, ledger, user, clock }: FilesComponents,
): Promise<OfferedManifest> {
  checkServiceName(name)
  const provider = findProvider(BUCKETS.files, name, { ledger, clock })
  if (provider === undefined || provider === ledger.self) {
    throw filesError('files.unknown_name', `no other member offers ${JSON.stringify(name)} now`)
  }
  user.announce()
  await network.connect(provider, signal)
  await user.announced(signal)
  if (network.speaks(provider, FILE_PROTOCOL) === false) {
    throw filesError('files.refused', 'an EdgeVPN-compatible member does not tell what is in a file')
  }
  const options = { maxMessageBytes: MAX_FILE_MESSAGE_BYTES, bulk: true, signal }
  const conversation = createConversation(await network.channels.open(provider, FILE_PROTOCOL, options), {
    clock,
  })
  const onAbort = () => conversation.abort(toError(signal.reason))
  signal.addEventListener('abort', onAbort, { once: true })
  const place = lists.reserve({ size: 0 })
  try {
    await conversation.send({ type: 'request', name, entries: user.entries(), anyNames: true })
    return await receiveManifest(conversation, place)
  } finally {
    place?.release()
    signal.removeEventListener('abort', onAbort)
    conversation.abort(new Error('only the list was wanted'))
  }
}
