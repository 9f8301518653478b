/**
 * Fetches a share by its name.
 *
 * 1. Finds the member that offers it, or waits for one.
 * 2. Announces itself in `users`.
 * 3. Tries once, by the best protocol that the provider speaks.
 * 4. Goes on after a break. Ends after a fault that time cannot cure.
 */
import { BUCKETS, delay, MeshError, type PeerId, toError } from '@mesh/core'
import type { Scope } from '@mesh/core/limits'
import { awaitCommit } from '../await-commit.ts'
import { findProvider } from '../find-provider.ts'
import { createConversation } from './conversation.ts'
import type { DestinationLocks } from './destination-lock.ts'
import { filesError, isPassing } from './errors.ts'
import { type LeftOut, NOTHING_LEFT_OUT } from './left-out.ts'
import {
  MAX_CHANGED_TRIES,
  MAX_FILE_MESSAGE_BYTES,
  PROGRESS_INTERVAL_MS,
  PROVIDER_CHECK_MS,
  RETRY_MAX_MS,
  RETRY_MIN_MS,
} from './limits.ts'
import { receiveRawFile } from './legacy/receive-raw-file.ts'
import type { FilesComponents } from './ports.ts'
import { FILE_PROTOCOL, LEGACY_FILE_PROTOCOL } from './protocol.ts'
import { receiveShare } from './receive-session.ts'
import { checkServiceName } from '../services/service-name.ts'
import { ProgressMeter, type TransferProgress } from './transfer-progress.ts'

export interface ReceiveFileInit {
  readonly name: string
  /** A path to write to; or a folder, or a path that ends with a slash, to write into. */
  readonly destination: string
  /** Those of this process: two transfers never write to one place. */
  readonly locks: DestinationLocks
  /** Bounds the memory of this process for the lists of what comes: `LISTS`. */
  readonly lists: Scope
  readonly signal: AbortSignal
  readonly onState?: (state: ReceiveState) => void
}

export type ReceiveState =
  /** No live member offers the name. */
  | { readonly type: 'waiting' }
  | { readonly type: 'connecting'; readonly provider: PeerId }
  | ({
      readonly type: 'receiving'
      readonly provider: PeerId
      readonly path: 'direct' | 'relayed' | undefined
      /** `tcp tls`, or what carries libp2p. */
      readonly transport: string | undefined
      readonly fileCount: number
    } & TransferProgress)
  /** Broken off; another try follows. */
  | { readonly type: 'retrying'; readonly reason: string; readonly inMs: number }

export interface ReceivedFile {
  /** The absolute path to which it was written. */
  readonly path: string
  readonly provider: PeerId
  /** False: an EdgeVPN-compatible sender says no hash to compare with. */
  readonly isVerified: boolean
  readonly bytes: number
  /** Entries of the share that did not arrive. */
  readonly leftOut: LeftOut
}

/** @throws MeshError `files.*`, `services.bad_name`; the signal's reason */
export async function receiveFile(init: ReceiveFileInit, components: FilesComponents): Promise<ReceivedFile> {
  checkServiceName(init.name)
  const { signal, onState = () => {} } = init
  const { clock } = components
  let pauseMs = RETRY_MIN_MS
  const changes = new Map<unknown, number>()
  for (;;) {
    const provider = await awaitProvider(init, components)
    onState({ type: 'connecting', provider })
    let moved = 0
    try {
      return await tryOnce(provider, init, { ...components, onMoved: (bytes) => (moved += bytes) })
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error)) throw error
      endIfChanging(error, changes, init.name)
      pauseMs = moved > 0 ? RETRY_MIN_MS : Math.min(RETRY_MAX_MS, pauseMs * 2)
      onState({ type: 'retrying', reason: wordsOf(error), inMs: pauseMs })
    }
    await delay(clock, pauseMs, signal)
  }
}

/**
 * Counts how often each file of a share changed while it came.
 * @throws MeshError `files.changed` once that was too often
 */
function endIfChanging(error: unknown, changes: Map<unknown, number>, name: string): void {
  if (!(error instanceof MeshError) || error.code !== 'files.changed') return
  const path = error.details['path']
  const times = (changes.get(path) ?? 0) + 1
  changes.set(path, times)
  if (times < MAX_CHANGED_TRIES) return
  throw filesError('files.changed', `${String(path)} changed ${times} times while it came`, {
    cause: error,
    hint: `Have the sender offer a copy that nothing writes to, then run \`mesh file-receive ${name}\` again.`,
  })
}

/** Resolves with the live owner of the name, as soon as there is one. */
async function awaitProvider(
  { name, signal, onState = () => {} }: ReceiveFileInit,
  { ledger, clock }: FilesComponents,
): Promise<PeerId> {
  let isTold = false
  for (;;) {
    signal.throwIfAborted()
    const provider = findProvider(BUCKETS.files, name, { ledger, clock })
    if (provider !== undefined && provider !== ledger.self) return provider
    if (!isTold) onState({ type: 'waiting' })
    isTold = true
    // liveness ends without a commit
    await awaitCommit(() => true, { ledger, clock }, { ms: PROVIDER_CHECK_MS, signal })
  }
}

type TryComponents = FilesComponents & { readonly onMoved: (bytes: number) => void }

async function tryOnce(
  provider: PeerId,
  init: ReceiveFileInit,
  components: TryComponents,
): Promise<ReceivedFile> {
  const { network, user } = components
  user.announce()
  await network.connect(provider, init.signal)
  await user.announced(init.signal)
  const isLegacy =
    network.speaks(provider, FILE_PROTOCOL) === false &&
    network.speaks(provider, LEGACY_FILE_PROTOCOL) === true
  return isLegacy ? tryRaw(provider, init, components) : tryOwn(provider, init, components)
}

async function tryOwn(
  provider: PeerId,
  { name, destination, locks, lists, signal, onState = () => {} }: ReceiveFileInit,
  { network, user, clock, onMoved }: TryComponents,
): Promise<ReceivedFile> {
  const options = { maxMessageBytes: MAX_FILE_MESSAGE_BYTES, bulk: true, signal }
  const channel = await network.channels.open(provider, FILE_PROTOCOL, options)
  const conversation = createConversation(channel, { clock })
  const onAbort = () => conversation.abort(new Error('the receiver stops'))
  signal.addEventListener('abort', onAbort, { once: true })
  const meter = new ProgressMeter(clock)
  let fileCount = 0
  const path = channel.direct ? 'direct' : 'relayed'
  const transport = channel.transport ?? network.pathOf(provider)?.transport
  const tell = () => onState({ type: 'receiving', provider, path, transport, fileCount, ...meter.read() })
  const stopTelling = every(clock, PROGRESS_INTERVAL_MS, tell)
  try {
    const share = await receiveShare({
      conversation,
      name,
      entries: user.entries(),
      destination,
      locks,
      lists,
      signal,
      onShare(size) {
        meter.totalBytes = size.totalBytes
        fileCount = size.fileCount
        meter.add(size.presentBytes, false)
      },
      onBytes(byteCount, isMoved) {
        meter.add(byteCount, isMoved)
        if (isMoved) onMoved(byteCount)
      },
    })
    tell()
    return { ...share, provider, isVerified: true, bytes: meter.bytes }
  } catch (error) {
    conversation.abort(toError(error))
    throw error
  } finally {
    stopTelling()
    signal.removeEventListener('abort', onAbort)
  }
}

async function tryRaw(
  peer: PeerId,
  { name, destination, signal, onState = () => {} }: ReceiveFileInit,
  { network, clock, onMoved }: TryComponents,
): Promise<ReceivedFile> {
  const meter = new ProgressMeter(clock)
  const { path, transport } = network.pathOf(peer) ?? {}
  const way = { provider: peer, path, transport }
  const tell = () => onState({ type: 'receiving', ...way, fileCount: 1, ...meter.read() })
  const stopTelling = every(clock, PROGRESS_INTERVAL_MS, tell)
  const onBytes = (byteCount: number) => {
    meter.add(byteCount, true)
    onMoved(byteCount)
  }
  try {
    const written = await receiveRawFile({ network, peer, name, destination, clock, signal, onBytes })
    tell()
    return { path: written, provider: peer, isVerified: false, bytes: meter.bytes, leftOut: NOTHING_LEFT_OUT }
  } finally {
    stopTelling()
  }
}

function every(clock: FilesComponents['clock'], intervalMs: number, run: () => void): () => void {
  let cancel = () => {}
  const wait = () => {
    cancel = clock.after(intervalMs, () => {
      run()
      wait()
    })
  }
  wait()
  return () => cancel()
}

function wordsOf(error: unknown): string {
  return toError(error).message
}
