/**
 * Serves one receiver of a share:
 *
 * 1. It names what it wants, in time. It is admitted, or told why not.
 * 2. The share is listed again, and the manifest sent.
 * 3. Files go out in the order asked, small ones read ahead. What the receiver holds is compared by its hash, the rest is read,
 *    hashed and sent. A file that no longer matches the manifest ends the session.
 * 4. It reports that everything is stored.
 */
import { createHash } from 'node:crypto'
import { toError } from '@mesh/core'
import { readBlocks } from './block-file.ts'
import { filesError } from './errors.ts'
import { type FileMessage, manifestParts, REFUSAL } from './file-message.ts'
import { digestSoFar, hashPrefix } from './hash-file.ts'
import type { LeftOut } from './left-out.ts'
import { checkPortableName } from './manifest.ts'
import { shownPath } from './path-bytes.ts'
import { portablePart } from './portable-part.ts'
import type { Conversation } from './conversation.ts'
import { ReadAhead, type WholeFile } from './read-ahead.ts'
import { isForbidden, isUnchanged, openShared, pathOf, type Scan } from './scan.ts'
import type { SendingLoad } from './sending-load.ts'

export interface SendSessionInit {
  readonly conversation: Conversation
  readonly signal: AbortSignal
  /** The time and memory that this receiver shares with all others. */
  readonly load: SendingLoad
  /** The path that is offered under a name; undefined: nothing is. */
  readonly pathOf: (name: string) => string | undefined
  /** May this receiver have anything? Else why not, for it to read. */
  readonly admit: (entries: Uint8Array) => Promise<string | undefined>
  /** Returns why access rules refuse files to this receiver, for it to read; undefined: they allow them. */
  readonly refusal: () => string | undefined
  readonly onShare: (name: string, scan: Scan) => void
  /** This machine does not let what is offered under a name be read; the receiver was told, and the session ends. */
  readonly onUnreadable: (name: string, error: Error) => void
  /** `isMoved` false: the receiver holds them already. */
  readonly onBytes: (byteCount: number, isMoved: boolean) => void
}

type Request = Extract<FileMessage, { type: 'request' }>
type Want = Extract<FileMessage, { type: 'want' }>

/** Resolves with what the receiver left out when it said that it has the rest; undefined: it left before. @throws MeshError `files.*`; what the channel throws */
export async function sendShare(init: SendSessionInit): Promise<LeftOut | undefined> {
  const { conversation } = init
  const request = await nextRequest(init)
  const scan = request === undefined ? undefined : await openShare(request, init)
  if (request === undefined || scan === undefined) return undefined
  const { name, isFolder, entries, leftOut } = scan
  await conversation.send({ type: 'offer', name, isFolder, entryCount: entries.length, leftOut })
  for (const part of manifestParts(entries)) {
    await init.load.turn()
    await conversation.send(part)
  }
  const ahead = new ReadAhead(scan, init.load)
  for (;;) {
    const message = await conversation.next()
    if (message === undefined) return undefined
    if (message.type === 'done') return message.leftOut
    if (message.type !== 'want') throw filesError('files.broken_off', `a ${message.type} instead of a want`)
    const whole = await ahead.take(message.index)
    if (whole !== undefined && message.offset === 0) await sendWhole(message.index, whole, init)
    else if (!(await sendFile(message, { scan, request }, init))) return undefined
  }
}

/** Undefined: the receiver was told why it gets nothing. */
async function nextRequest({ conversation, admit, refusal }: SendSessionInit): Promise<Request | undefined> {
  const request = await conversation.next()
  if (request?.type !== 'request') {
    await refuse(conversation, REFUSAL.badRequest, 'a request was expected')
    return undefined
  }
  const denial = await admit(request.entries)
  const reason = denial ?? refusal()
  if (reason === undefined) return request
  await refuse(conversation, denial === undefined ? REFUSAL.forbidden : REFUSAL.notAnnounced, reason)
  return undefined
}

/** Undefined: the receiver was told why it gets nothing. */
async function openShare({ name, anyNames }: Request, init: SendSessionInit): Promise<Scan | undefined> {
  const { conversation, signal, load, onShare, onUnreadable } = init
  const path = init.pathOf(name)
  if (path === undefined) {
    await refuse(conversation, REFUSAL.unknownName, 'nothing is offered under this name')
    return undefined
  }
  try {
    const all = await conversation.whileBusy(load.list(path))
    signal.throwIfAborted()
    const turn = () => load.turn()
    const scan = anyNames ? all : await conversation.whileBusy(portablePart(all, turn))
    onShare(name, scan)
    if (isUsable(scan)) return scan
    await refuse(conversation, REFUSAL.unreadable, OLD_RECEIVER)
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    onUnreadable(name, toError(error))
    // the path of this machine is nobody's business
    await refuse(conversation, REFUSAL.unreadable, 'the sender cannot read what it offers')
    return undefined
  }
}

const OLD_RECEIVER = 'the name of the share needs a newer version of mesh at the receiver'

/** False: nothing of it can be sent to an older receiver, which takes no such name. */
function isUsable({ name, isFolder, entries }: Scan): boolean {
  return isFolder ? checkPortableName(name) === undefined : entries.length === 1
}

/** Sends the reason; an error that is thrown afterwards would cut the connection, and the reason with it. */
function refuse(conversation: Conversation, code: number, reason: string): Promise<void> {
  return conversation.send({ type: 'refusal', code, reason })
}

interface Served {
  readonly scan: Scan
  readonly request: Request
}

/** False: the receiver was told why it gets nothing more. */
async function sendFile(want: Want, { scan, request }: Served, init: SendSessionInit): Promise<boolean> {
  const { conversation } = init
  const entry = scan.entries[want.index]
  if (entry === undefined || entry.isFolder || want.offset > entry.size) {
    throw filesError('files.broken_off', 'the receiver asked for what is not in the share')
  }
  const { index } = want
  const changed = async () => {
    await conversation.send({ type: 'end', index, sha256: NO_BYTES, hasChanged: true })
    return true
  }
  const file = await openShared(pathOf(scan, entry)).catch(errorIfForbidden)
  if (file === undefined) return await changed()
  if (file instanceof Error) {
    init.onUnreadable(request.name, file)
    await refuse(conversation, REFUSAL.unreadable, `the sender may not read ${shownPath(entry.path)}`)
    return false
  }
  try {
    if (!isUnchanged(await file.stat(), entry)) return await changed()
    const { hash, offset } = await startAt(want, file, init)
    await conversation.send({ type: 'begin', index, offset })
    for await (const blocks of readBlocks(file, { offset, end: entry.size }, init.load)) {
      for (const { bytes, message } of blocks) {
        await init.load.turn()
        hash.update(bytes)
        await conversation.sendEncoded(message)
        init.onBytes(bytes.byteLength, true)
      }
      init.signal.throwIfAborted()
    }
    if (!isUnchanged(await file.stat(), entry)) return await changed()
    await conversation.send({ type: 'end', index, sha256: hash.digest(), hasChanged: false })
    return true
  } finally {
    await file.close()
  }
}

/** Undefined: it is not there any more. */
function errorIfForbidden(error: unknown): Error | undefined {
  return isForbidden(error) ? error : undefined
}

async function sendWhole(index: number, blocks: WholeFile, init: SendSessionInit) {
  const { conversation, load, onBytes } = init
  const hash = createHash('sha256')
  await load.turn()
  await conversation.send({ type: 'begin', index, offset: 0 })
  for (const { bytes, message } of blocks) {
    hash.update(bytes)
    await conversation.sendEncoded(message)
    onBytes(bytes.byteLength, true)
  }
  await conversation.send({ type: 'end', index, sha256: hash.digest(), hasChanged: false })
}

const NO_BYTES = new Uint8Array(0)

/** Goes on from where the receiver is when it holds the same bytes, else from the beginning. */
async function startAt(
  { offset, sha256 }: Want,
  file: Parameters<typeof hashPrefix>[0],
  { conversation, signal, load, onBytes }: SendSessionInit,
) {
  const empty = async () => {
    const hash = await hashPrefix(file, 0, { signal })
    if (hash === undefined) throw new Error('nothing has a hash, too')
    return { hash, offset: 0 }
  }
  if (offset === 0) return empty()
  const turn = () => load.turn()
  const hash = await conversation.whileBusy(hashPrefix(file, offset, { signal, turn }))
  if (hash === undefined || Buffer.compare(digestSoFar(hash), sha256) !== 0) return empty()
  onBytes(offset, false)
  return { hash, offset }
}
