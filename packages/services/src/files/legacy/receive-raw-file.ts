/**
 * `/edgevpn/file/0.1`, receiving: all bytes until the stream ends. Nothing says how many there are or what they hash
 * to, so a stream that breaks is no file, and nothing can be gone on with.
 */
import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import type { Clock, PeerId } from '@mesh/core'
import { filesError } from '../errors.ts'
import { GatheredPieces } from '../gathered-pieces.ts'
import { FILE_IDLE_MS, RAW_WRITE_BYTES } from '../limits.ts'
import type { FilesNetwork } from '../ports.ts'
import { LEGACY_FILE_PROTOCOL } from '../protocol.ts'
import { requireFree, resolveDestination } from '../staging.ts'
import type { ByteStream } from '../../ports.ts'

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
  const stream = await network.streams.open(peer, LEGACY_FILE_PROTOCOL, {
    from: 'heard',
    relayed: false,
    signal,
  })
  const file = await open(part, 'wx').catch((cause: unknown) => {
    stream.abort(new Error('cannot write'))
    throw filesError('files.destination', `cannot write to ${destination}: ${String(cause)}`, { cause })
  })
  try {
    await copyToEnd(stream, file, init)
    await file.datasync()
    await file.close()
    await rename(part, destination)
    return destination
  } catch (error) {
    stream.abort(new Error('not received'))
    await file.close().catch(() => {})
    await rm(part, { force: true })
    throw error
  }
}

/** @throws MeshError `files.broken_off`, `files.no_space` */
function copyToEnd(
  stream: ByteStream,
  file: FileHandle,
  { clock, signal, onBytes }: RawFileInit,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const gathered = new GatheredPieces()
    let writing: Promise<void> = Promise.resolve()
    let cancelIdle = () => {}
    const fail = (error: unknown) => {
      cancelIdle()
      signal.removeEventListener('abort', onAbort)
      reject(error)
    }
    const onAbort = () => fail(signal.reason)
    const watch = () => {
      cancelIdle()
      cancelIdle = clock.after(FILE_IDLE_MS, () =>
        fail(filesError('files.broken_off', `nothing came for ${FILE_IDLE_MS / 1_000} s`)),
      )
    }
    const write = () => {
      const { byteLength } = gathered
      const pieces = gathered.take()
      stream.pause()
      writing = writing.then(async () => {
        await file.appendFile(Buffer.concat(pieces, byteLength))
        stream.resume()
      })
      writing.catch(fail)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    stream.onEnd((error) => {
      cancelIdle()
      if (error !== undefined) {
        return fail(
          filesError('files.broken_off', `the sender broke off: ${error.message}`, { cause: error }),
        )
      }
      write()
      writing.then(() => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }, fail)
    })
    stream.onBytes((bytes) => {
      watch()
      onBytes(bytes.byteLength)
      gathered.add(bytes)
      if (gathered.byteLength >= RAW_WRITE_BYTES) write()
    })
    watch()
  })
}
