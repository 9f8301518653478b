/**
 * Sends files to the node piece by piece. The uploads outlive the screen that shows them:
 *
 * 1. `add` puts a file at the end; at most two are sent at once.
 * 2. Each piece is read from the disk only when it is sent.
 * 3. Where the node has other bytes than the page thinks, the upload goes on from the byte that the node names.
 */
import { ApiError, type ApiClient } from '@mesh/api-client'
import { MAX_UPLOAD_BYTES, MAX_UPLOAD_PIECE_BYTES } from '@mesh/api-contract'
import type { Clock } from '@mesh/core'
import { bytesInWords } from '../model/rate-words.ts'
import { addSample, NO_SAMPLES, rateOf, type Samples } from '../model/upload-rate.ts'

/** Files that are sent at the same time. */
const MAX_SENDING = 2
/** Files that the page lists: a person drops a few, not a whole disk. */
const MAX_UPLOADS = 200
/** The times that the node may correct the place of a piece before the upload fails. */
const MAX_CORRECTIONS = 3

export interface Upload {
  readonly id: number
  readonly name: string
  readonly state: 'waiting' | 'sending' | 'offered' | 'failed'
  readonly Bytes: number
  readonly TotalBytes: number
  /** The speed, in bytes per second. */
  readonly Rate: number
  /** The reason, with `failed`. */
  readonly error?: Error | undefined
}

interface Sending {
  view: Upload
  readonly file: File
  samples: Samples
  readonly abort: AbortController
}

export interface Uploads {
  readonly subscribe: (listener: () => void) => () => void
  /** Lists the uploads, oldest first. */
  readonly list: () => readonly Upload[]
  /** Adds files and sends them; leaves out those beyond `MAX_UPLOADS`. */
  add(files: readonly File[]): void
  /** Goes on with an upload that failed, from where it stopped. */
  retry(id: number): void
  /** Ends an upload, and takes it from the list. */
  remove(id: number): void
  stop(): void
}

interface UploadsComponents {
  readonly client: ApiClient
  readonly clock: Clock
  /** Called when the node offers a file. */
  readonly onOffered: () => void
}

export function createUploads({ client, clock, onOffered }: UploadsComponents): Uploads {
  const listeners = new Set<() => void>()
  let all: readonly Sending[] = []
  let shown: readonly Upload[] = []
  let lastId = 0

  const tell = () => {
    shown = all.map(({ view }) => view)
    for (const listener of listeners) listener()
  }
  const change = (sending: Sending, changes: Partial<Upload>) => {
    sending.view = { ...sending.view, ...changes }
    tell()
  }
  const fill = () => {
    const running = all.filter(({ view }) => view.state === 'sending').length
    const waiting = all.filter(({ view }) => view.state === 'waiting')
    for (const next of waiting.slice(0, Math.max(0, MAX_SENDING - running))) void send(next)
  }
  const send = async (sending: Sending) => {
    sending.samples = addSample(NO_SAMPLES, { at: clock.monotonic(), bytes: sending.view.Bytes })
    change(sending, { state: 'sending', error: undefined })
    try {
      await sendPieces(client, sending, (bytes) => {
        sending.samples = addSample(sending.samples, { at: clock.monotonic(), bytes })
        change(sending, { Bytes: bytes, Rate: rateOf(sending.samples) })
      })
      change(sending, { state: 'offered', Rate: 0 })
      onOffered()
    } catch (error) {
      change(sending, { state: 'failed', Rate: 0, error: asError(error) })
    }
    fill()
  }
  const end = (ended: readonly Sending[]) => {
    all = all.filter((each) => !ended.includes(each))
    for (const { abort } of ended) abort.abort()
    tell()
  }
  const find = (id: number) => all.find(({ view }) => view.id === id)
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    list: () => shown,
    add(files) {
      for (const file of files.slice(0, MAX_UPLOADS - all.length)) {
        all = [...all, begin({ id: ++lastId, file, known: all })]
      }
      tell()
      fill()
    },
    retry(id) {
      const sending = find(id)
      if (sending?.view.state !== 'failed') return
      change(sending, { state: 'waiting', error: undefined })
      fill()
    },
    remove(id) {
      const sending = find(id)
      if (sending === undefined) return
      end([sending])
      fill()
    },
    stop: () => end(all),
  }
}

interface NewUpload {
  readonly id: number
  readonly file: File
  readonly known: readonly Sending[]
}

function begin({ id, file, known }: NewUpload): Sending {
  const error = refusalOf(file, known)
  const view: Upload = {
    id,
    name: file.name,
    state: error === undefined ? 'waiting' : 'failed',
    Bytes: 0,
    TotalBytes: file.size,
    Rate: 0,
    error,
  }
  return { view, file, samples: NO_SAMPLES, abort: new AbortController() }
}

/** Why a file is not sent at all. */
function refusalOf({ name, size }: File, known: readonly Sending[]): Error | undefined {
  if (size > MAX_UPLOAD_BYTES) {
    const message = `${bytesInWords(size)} are more than the ${bytesInWords(MAX_UPLOAD_BYTES)} that a node takes`
    return new ApiError('files.too_large', message, {
      hint: 'Put the file on the machine of the node, and offer its path.',
    })
  }
  const isUnderWay = known.some(({ view }) => view.name === name && isUnfinished(view))
  if (!isUnderWay) return undefined
  return new ApiError('files.too_many', 'a file of this name is being sent', {
    hint: 'Wait for it, or cancel it, and try again.',
  })
}

/** True while the node does not have all of it and the page works on that. */
export function isUnfinished({ state }: Upload): boolean {
  return state === 'waiting' || state === 'sending'
}

async function sendPieces(
  client: ApiClient,
  { file, view, abort: { signal } }: Sending,
  onBytes: (bytes: number) => void,
): Promise<void> {
  let from = view.Bytes
  let corrections = 0
  for (;;) {
    const part = file.slice(from, from + MAX_UPLOAD_PIECE_BYTES)
    const body = new Uint8Array(await part.arrayBuffer())
    signal.throwIfAborted()
    const piece = { name: file.name, from: String(from), of: String(file.size), body }
    const sent = await client.uploadNodeFile(piece, { signal }).catch((error: unknown) => {
      const expected = expectedByte(error, file.size)
      if (expected === undefined || ++corrections > MAX_CORRECTIONS) throw error
      return { State: 'receiving' as const, Bytes: expected }
    })
    signal.throwIfAborted()
    from = sent.Bytes
    onBytes(from)
    if (sent.State === 'offered') return
  }
}

/** Where the node wants the next piece to begin; undefined: the error is another one. */
function expectedByte(error: unknown, size: number): number | undefined {
  if (!(error instanceof ApiError) || error.code !== 'files.wrong_piece') return undefined
  const text = error.issues.find(({ field }) => field === 'from')?.expected ?? ''
  return /^\d+$/.test(text) && Number(text) <= size ? Number(text) : undefined
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
