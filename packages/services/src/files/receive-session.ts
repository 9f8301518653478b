/**
 * One try to fetch a share:
 * 1. ask for the name; take the manifest, or the sender's reason
 * 2. open the staging folder: what is there whole is not fetched again
 * 3. ask for the other files, some ahead; what is there in part goes along as length and hash
 * 4. write what comes, hash it, compare at each file's end; a file with another hash is fetched again from its start
 * 5. when all is whole, give it its name, and tell the sender
 */
import { createHash, type Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Place, Scope } from '@mesh/core/limits'
import type { Conversation } from './conversation.ts'
import type { DestinationLocks } from './destination-lock.ts'
import { filesError } from './errors.ts'
import { FileWriter } from './file-writer.ts'
import { digestSoFar, hashPrefix } from './hash-file.ts'
import { DONE_READ_MS, MAX_FINISHING, MAX_HASH_FAILURES, MAX_WANTED_AHEAD } from './limits.ts'
import { type LeftOut, LeftOutList } from './left-out.ts'
import type { ManifestEntry } from './manifest.ts'
import { type OfferedManifest, receiveManifest } from './receive-manifest.ts'
import { shownPath } from './path-bytes.ts'
import { refusalError } from './refusal.ts'
import { openStaging, requireSpace, resolveDestination, type Staging } from './staging.ts'

export interface ReceiveSessionInit {
  readonly conversation: Conversation
  readonly name: string
  /** This node's own entries, for the sender. */
  readonly entries: Uint8Array
  /** The destination as the person gave it: a path to write to, or a folder to write into. */
  readonly destination: string
  readonly locks: DestinationLocks
  readonly lists: Scope
  readonly signal: AbortSignal
  /** Called when the manifest has come. */
  readonly onShare: (share: ShareSize) => void
  /** `isMoved` false: they were there already, or (negative) are wrong and fetched again. */
  readonly onBytes: (byteCount: number, isMoved: boolean) => void
}

/** A share that stands. */
export interface ReceivedShare {
  /** Where it stands, absolute. */
  readonly path: string
  readonly leftOut: LeftOut
}

/** The size of a share without what is left out here, and how much of it is there already. */
interface ShareSize {
  readonly fileCount: number
  readonly totalBytes: number
  /** Bytes of the files that are whole already. */
  readonly presentBytes: number
}

/** Resolves when the share stands. @throws MeshError `files.*`; the signal's reason */
export async function receiveShare(init: ReceiveSessionInit): Promise<ReceivedShare> {
  const place = init.lists.reserve({ size: 0 })
  try {
    return await receiveListed(init, place)
  } finally {
    place?.release()
  }
}

async function receiveListed(init: ReceiveSessionInit, place: Place | undefined): Promise<ReceivedShare> {
  const { conversation, name, entries, locks } = init
  await conversation.send({ type: 'request', name, entries, anyNames: true })
  const manifest = await receiveManifest(conversation, place)
  const destination = await resolveDestination(init.destination, manifest.name)
  const staging = await conversation.whileBusy(openStaging(manifest, { destination, locks }))
  try {
    await new ShareReceiver(manifest, staging, init).run()
    await staging.commit()
  } finally {
    await staging.release()
  }
  await conversation.send({ type: 'done', leftOut: staging.leftOut }).catch(() => {})
  // the sender closes when it has read that; a process that ended before might take its last message with it
  await conversation.closedByRemote(DONE_READ_MS)
  await conversation.close().catch(() => {})
  const leftOut = new LeftOutList()
  leftOut.addAll(manifest.leftOut)
  leftOut.addAll(staging.leftOut)
  return { path: destination, leftOut }
}

/** A file that was asked for, in the order asked. */
interface Wanted {
  readonly index: number
  readonly entry: ManifestEntry
  readonly file: FileHandle
  /** The hash of the bytes that are there. */
  readonly hash: Hash
  readonly offset: number
}

class ShareReceiver {
  readonly #manifest: OfferedManifest
  readonly #staging: Staging
  readonly #init: ReceiveSessionInit
  readonly #wanted: Wanted[] = []
  readonly #finishing = new Set<Promise<void>>()
  readonly #failures = new Map<number, number>()
  /** The one to ask for next at the end: taking the first of many moves all the others. */
  #toAsk: number[] = []
  #writer: FileWriter | undefined
  #finishError: unknown

  constructor(manifest: OfferedManifest, staging: Staging, init: ReceiveSessionInit) {
    this.#manifest = manifest
    this.#staging = staging
    this.#init = init
  }

  async run(): Promise<void> {
    const { conversation } = this.#init
    try {
      await conversation.whileBusy(this.#findMissing())
      do {
        await this.#ask()
        while (this.#wanted.length > 0) {
          this.#init.signal.throwIfAborted()
          await this.#take()
          await this.#ask()
        }
        await conversation.whileBusy(this.#finished(0))
        // one that came with a wrong hash at the very end is asked for again
      } while (this.#toAsk.length > 0)
    } finally {
      // a later try goes on from what came of the last file
      await this.#writer?.end().catch(() => {})
      await Promise.allSettled(this.#finishing)
      await Promise.allSettled(this.#wanted.map(({ file }) => file.close()))
    }
  }

  async #findMissing(): Promise<void> {
    let [fileCount, presentBytes] = [0, 0]
    const missing: number[] = []
    for (let index = 0; index < this.#manifest.entries.length; index++) {
      const entry = this.#entry(index)
      if (entry.isFolder || this.#staging.isLeftOut(index)) continue
      fileCount++
      if (await this.#staging.isWhole(entry)) presentBytes += entry.size
      else missing.push(index)
    }
    const missingBytes = missing.reduce((sum, index) => sum + this.#entry(index).size, 0)
    this.#init.onShare({ fileCount, totalBytes: presentBytes + missingBytes, presentBytes })
    await requireSpace(this.#staging.destination, await this.#neededRoom(missing, missingBytes))
    this.#toAsk = missing.reverse()
  }

  /** The first one may be there in part. */
  async #neededRoom(missing: readonly number[], missingBytes: number): Promise<number> {
    const [first] = missing
    if (first === undefined) return 0
    const { file, size } = await this.#staging.open(this.#entry(first))
    await file.close()
    return missingBytes - size
  }

  /** Keeps as many files asked for ahead as are allowed. */
  async #ask(): Promise<void> {
    while (this.#wanted.length < MAX_WANTED_AHEAD) {
      const index = this.#toAsk.pop()
      if (index === undefined) return
      const wanted = await this.#prepare(index)
      this.#wanted.push(wanted)
      const { offset, hash } = wanted
      const sha256 = offset === 0 ? new Uint8Array(0) : digestSoFar(hash)
      await this.#init.conversation.send({ type: 'want', index, offset, sha256 })
    }
  }

  async #prepare(index: number): Promise<Wanted> {
    const { conversation, signal, onBytes } = this.#init
    const entry = this.#entry(index)
    const { file, size } = await this.#staging.open(entry)
    try {
      const hash = size === 0 ? undefined : await conversation.whileBusy(hashPrefix(file, size, { signal }))
      if (hash === undefined) return { index, entry, file, hash: createHash('sha256'), offset: 0 }
      onBytes(size, false)
      return { index, entry, file, hash, offset: size }
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async #take(): Promise<void> {
    const message = await this.#init.conversation.next()
    const [wanted] = this.#wanted
    if (message === undefined) throw filesError('files.broken_off', 'the sender closed the connection')
    if (wanted === undefined) throw unexpected(message.type)
    if (message.type === 'refusal') throw refusalError(message.code, message.reason)
    if (message.type === 'data') return this.#write(wanted, message.bytes)
    if (message.type !== 'begin' && message.type !== 'end') throw unexpected(message.type)
    if (message.index !== wanted.index) throw unexpected(`${message.type} of another file`)
    if (message.type === 'begin') return this.#begin(wanted, message.offset)
    if (message.hasChanged) {
      const path = shownPath(wanted.entry.path)
      throw filesError('files.changed', `${path} changed at the sender while it was sent`, {
        details: { path },
      })
    }
    await this.#end(wanted, message.sha256)
  }

  async #begin(wanted: Wanted, offset: number): Promise<void> {
    if (this.#writer !== undefined) throw unexpected('begin')
    if (offset === wanted.offset) this.#writer = this.#writerAt(wanted, offset, wanted.hash)
    else if (offset === 0) {
      await wanted.file.truncate(0)
      this.#init.onBytes(-wanted.offset, false)
      this.#writer = this.#writerAt(wanted, 0, createHash('sha256'))
    } else throw unexpected('begin at another place')
  }

  #writerAt({ file, entry: { size } }: Wanted, offset: number, hash: Hash): FileWriter {
    return new FileWriter(file, { offset, size }, hash)
  }

  async #write({ entry }: Wanted, bytes: Uint8Array): Promise<void> {
    const writer = this.#writer
    if (bytes.byteLength === 0) throw unexpected('data of nothing')
    if (writer === undefined || writer.size + bytes.byteLength > entry.size) throw unexpected('data')
    this.#init.onBytes(bytes.byteLength, true)
    await writer.add(bytes)
  }

  async #end(wanted: Wanted, sha256: Uint8Array): Promise<void> {
    const writer = this.#writer
    if (writer === undefined) throw unexpected('end')
    if (writer.size !== wanted.entry.size) throw unexpected('end before the file was whole')
    this.#writer = undefined
    this.#wanted.shift()
    await this.#finish(wanted, writer, sha256)
  }

  /** Writing to the end and flushing take time, so that the next file comes meanwhile. */
  async #finish(wanted: Wanted, writer: FileWriter, sha256: Uint8Array): Promise<void> {
    const finishing = this.#complete(wanted, writer, sha256).catch((error: unknown) => {
      this.#finishError ??= error
    })
    this.#finishing.add(finishing)
    void finishing.then(() => this.#finishing.delete(finishing))
    await this.#finished(MAX_FINISHING)
  }

  async #complete(wanted: Wanted, writer: FileWriter, sha256: Uint8Array): Promise<void> {
    const { entry, file } = wanted
    const own = await writer.end().catch(async (error: unknown) => {
      await file.close()
      throw error
    })
    if (Buffer.compare(own, sha256) === 0) await this.#staging.finish(entry, file)
    else await this.#startAgain(wanted)
  }

  async #finished(atMost: number): Promise<void> {
    while (this.#finishing.size > atMost) await Promise.race(this.#finishing)
    if (this.#finishError !== undefined) throw this.#finishError
  }

  async #startAgain({ index, entry, file }: Wanted): Promise<void> {
    const failures = (this.#failures.get(index) ?? 0) + 1
    this.#failures.set(index, failures)
    try {
      await file.truncate(0)
    } finally {
      await file.close()
    }
    this.#init.onBytes(-entry.size, false)
    if (failures >= MAX_HASH_FAILURES) {
      throw filesError('files.corrupt', `${shownPath(entry.path)} came ${failures} times with a wrong hash`, {
        hint: 'Check the disks and memory of both machines.',
      })
    }
    this.#toAsk.push(index)
  }

  #entry(index: number): ManifestEntry {
    const entry = this.#manifest.entries.at(index)
    if (entry === undefined) throw new RangeError(`no entry ${index}`)
    return entry
  }
}

function unexpected(what: string) {
  return filesError('files.bad_share', `the sender sent something out of order: ${what}`)
}
