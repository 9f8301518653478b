/**
 * `/edgevpn/file/0.1`, receiving: all bytes until the stream ends. Nothing says how many there are or what they hash
 * to, so a stream that breaks is no file, and nothing can be gone on with.
 */
import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { type Clock, type PeerId, toError } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { filesError } from '../errors.ts'
import { FILE_IDLE_MS } from '../limits.ts'
import type { FilesNetwork } from '../ports.ts'
import { LEGACY_FILE_PROTOCOL } from '../protocol.ts'
import { isSystemError } from '../scan.ts'
import { requireFree, resolveDestination } from '../staging.ts'
import type { ByteStream } from '../../ports.ts'
import { StreamDuplex } from '../../streams/stream-duplex.ts'

export interface RawFileInit {
  readonly network: FilesNetwork
  readonly peer: PeerId
  /** Its base name is used where the destination is a folder. */
  readonly name: string
  readonly destination: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onBytes: (byteCount: number) => void
}

/** Resolves with the absolute path where the file stands. @throws MeshError `files.*`, `p2p.*` */
export async function receiveRawFile(init: RawFileInit): Promise<string> {
  const { network, peer, name, signal } = init
  const destination = await resolveDestination(init.destination, name)
  await requireFree(destination, { isFolder: false })
  const part = `${destination}.${randomBytes(6).toString('hex')}.mesh-part`
  const options = { from: 'heard', relayed: false, halfClose: true, signal } as const
  const stream = await network.streams.open(peer, LEGACY_FILE_PROTOCOL, options)
  const file = await open(part, 'wx').catch((cause: unknown) => {
    stream.abort(new Error('cannot write'))
    throw filesError('files.destination', `cannot write to ${destination}: ${String(cause)}`, { cause })
  })
  try {
    await copyToEnd(stream, file, init)
    await rename(part, destination)
    return destination
  } catch (error) {
    await file.close().catch(() => {})
    await rm(part, { force: true })
    throw error
  }
}

/** Closes the file, and ends the stream. @throws MeshError `files.broken_off`; the signal's reason; what writing throws */
async function copyToEnd(
  stream: ByteStream,
  file: FileHandle,
  { clock, signal, onBytes }: RawFileInit,
): Promise<void> {
  const duplex = new StreamDuplex(stream, { budget: loopBudget(clock) })
  const silent = filesError('files.broken_off', `nothing came for ${FILE_IDLE_MS / 1_000} s`)
  const watch = () => clock.after(FILE_IDLE_MS, () => duplex.destroy(silent))
  let cancel = watch()
  async function* counted(pieces: AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) {
      cancel()
      cancel = watch()
      onBytes(piece.byteLength)
      yield piece
    }
  }
  try {
    await pipeline(duplex, counted, file.createWriteStream({ flush: true }), { signal })
    duplex.destroy()
  } catch (error) {
    signal.throwIfAborted()
    if (error === silent || isSystemError(error)) throw error
    throw filesError('files.broken_off', `the sender broke off: ${toError(error).message}`, { cause: error })
  } finally {
    cancel()
  }
}
