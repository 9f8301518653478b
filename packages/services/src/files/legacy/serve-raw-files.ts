/**
 * `/edgevpn/file/0.1`, serving: the bytes of the file and the end of the stream, nothing else. The protocol names no
 * file, so legacy members get the first that is offered, and no folder.
 */
import { type Clock, type Logger, toError } from '@mesh/core'
import type { Scope } from '@mesh/core/limits'
import { admitLegacyUser } from '../../legacy/admit-legacy.ts'
import { MAX_RECEIVERS_PER_PEER } from '../limits.ts'
import type { FilesNetwork } from '../ports.ts'
import { LEGACY_FILE_PROTOCOL } from '../../protocols.ts'
import { readBlocks } from '../block-file.ts'
import { openShared } from '../scan.ts'
import type { SendingLoad } from '../sending-load.ts'
import type { ByteStream, ServicesLedger } from '../../ports.ts'
import type { OfferRules } from '../../users/offer-rules.ts'
import { holdToRules } from '../../wire/accept.ts'

export interface RawFilesInit {
  readonly network: FilesNetwork
  /** Shared with our own protocol. */
  readonly receivers: Scope
  /** The time and memory that all receivers share. */
  readonly load: SendingLoad
  /** The path that legacy members get. */
  readonly path: () => string | undefined
  readonly ledger: ServicesLedger
  readonly rules?: OfferRules | undefined
  readonly clock: Clock
  readonly log: Logger
}

/** A receiver that takes nothing for this long is cut off. */
const STALL_MS = 60_000

export async function serveRawFiles(init: RawFilesInit): Promise<void> {
  const { network, receivers, log } = init
  const options = { from: 'heard', relayed: false, maxPerPeer: MAX_RECEIVERS_PER_PEER } as const
  await network.streams.handle(LEGACY_FILE_PROTOCOL, options, (stream) => {
    const { peer } = stream
    const end = () => stream.abort(new Error('others wait for a place'))
    const place = receivers.reserve({ peer, address: network.addressOf(peer) ?? '', end })
    if (place === undefined) return stream.abort(new Error('too many receivers'))
    const held = holdToRules(stream, init)
    sendRaw(stream, held.requireAllowed, init)
      .catch((error: unknown) => {
        log.debug('raw file not sent', { peer: stream.peer, error: String(error) })
        stream.abort(toError(error))
      })
      .finally(() => {
        held.stop()
        place.release()
      })
  })
}

async function sendRaw(
  stream: ByteStream,
  requireAllowed: (offer: { readonly kind: 'files' }) => void,
  { path, load, ledger, clock }: RawFilesInit,
): Promise<void> {
  const ended = new AbortController()
  stream.onEnd((error) => ended.abort(error ?? new Error('the receiver closed')))
  // what a receiver sends has no meaning
  stream.onBytes(() => {})
  await admitLegacyUser(stream.peer, { ledger, clock })
  requireAllowed({ kind: 'files' })
  const offered = path()
  if (offered === undefined) throw new Error('nothing is offered')
  const { root, isFolder, entries } = await load.list(offered)
  if (isFolder) throw new Error('a folder cannot be sent to a legacy member')
  const file = await openShared(root)
  try {
    for await (const blocks of readBlocks(file, { offset: 0, end: entries[0]?.size ?? 0 }, load)) {
      for (const { bytes } of blocks) {
        await load.turn()
        if (!stream.send(bytes)) await drained(stream, { clock, signal: ended.signal })
      }
      ended.signal.throwIfAborted()
    }
  } finally {
    await file.close()
  }
  stream.close()
}

function drained(
  stream: ByteStream,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const done = () => {
      cancel()
      signal.removeEventListener('abort', failed)
    }
    const failed = () => {
      done()
      reject(signal.reason)
    }
    const cancel = clock.after(STALL_MS, () => {
      done()
      reject(new Error('the receiver takes nothing'))
    })
    signal.addEventListener('abort', failed, { once: true })
    stream.onDrain(() => {
      done()
      resolve()
    })
  })
}
