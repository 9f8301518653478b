/** Fetches shares for people and programs of this machine, several at a time, and remembers how each ended. */
import { toError } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { checkServiceName } from '../services/service-name.ts'
import { DestinationLocks, type HolderProcesses } from './destination-lock.ts'
import { filesError } from './errors.ts'
import { LISTS, MAX_DOWNLOADS } from './limits.ts'
import type { ListShareInit } from './list-share.ts'
import type { OfferedManifest } from './receive-manifest.ts'
import type { ReceivedFile, ReceiveFileInit, ReceiveState } from './receive-file.ts'

export interface Download {
  readonly name: string
  /** The absolute path to write to, or the folder to write into, as it was asked for. */
  readonly destination: string
  readonly state: DownloadState
  /** How far it was when that was told last; undefined: nothing has come yet. */
  readonly progress: Progress | undefined
}

type Progress = Extract<ReceiveState, { readonly type: 'receiving' }>

export type DownloadState =
  | ReceiveState
  | ({ readonly type: 'received' } & ReceivedFile)
  | { readonly type: 'failed'; readonly error: Error }

export type DownloadInit = Omit<ReceiveFileInit, 'locks' | 'lists'>

interface DownloadsInit {
  /** The processes that may receive to the same places. */
  readonly processes: HolderProcesses
  /** Fetches a share once: breaks are gone on with, and an error ends it. */
  readonly fetch: (init: ReceiveFileInit) => Promise<ReceivedFile>
  /** Asks its provider what is in a share. */
  readonly look: (init: ListShareInit) => Promise<OfferedManifest>
}

interface Running {
  readonly destination: string
  readonly end: AbortController
  readonly done: Promise<void>
}

export class Downloads {
  readonly #fetch: DownloadsInit['fetch']
  readonly #look: DownloadsInit['look']
  readonly #locks: DestinationLocks
  readonly #lists = new Scope(LISTS)
  /** The newest is last. */
  readonly #all = new Map<string, Download>()
  readonly #running = new Map<string, Running>()

  constructor({ processes, fetch, look }: DownloadsInit) {
    this.#fetch = fetch
    this.#look = look
    this.#locks = new DestinationLocks(processes)
  }

  /** Those that run, and the last that ended. */
  list(): readonly Download[] {
    return [...this.#all.values()]
  }

  /**
   * Begins, or begins again where an earlier try ended; what has come already is gone on with. Does nothing where the
   * same runs.
   * @throws MeshError `services.bad_name`, `files.too_many`
   */
  async start(name: string, destination: string): Promise<void> {
    checkServiceName(name)
    if (this.#running.get(name)?.destination === destination) return
    // somebody else may ask for the same name meanwhile
    do await this.remove(name)
    while (this.#running.has(name))
    if (this.#running.size >= MAX_DOWNLOADS) {
      throw filesError('files.too_many', `${MAX_DOWNLOADS} files are being received already`, {
        hint: 'Wait for one to end, or end one.',
      })
    }
    this.#makeRoom()
    const end = new AbortController()
    const done = this.receive({ name, destination, signal: end.signal })
    // how it ended is listed
    const ended = done.then(
      () => {},
      () => {},
    )
    this.#running.set(name, { destination, end, done: ended.finally(() => this.#running.delete(name)) })
  }

  /**
   * Fetches a share for one caller, who is told of each state; listed as the others are.
   * @throws MeshError `files.*`, `services.bad_name`; the signal's reason
   */
  async receive(init: DownloadInit): Promise<ReceivedFile> {
    const { name, destination } = init
    let progress: Progress | undefined
    const show = (state: DownloadState) => {
      if (state.type === 'receiving') progress = state
      this.#all.set(name, { name, destination, state, progress })
    }
    const onState = (state: ReceiveState) => {
      show(state)
      init.onState?.(state)
    }
    show({ type: 'waiting' })
    try {
      const received = await this.#fetch({ ...init, locks: this.#locks, lists: this.#lists, onState })
      show({ type: 'received', ...received })
      return received
    } catch (error) {
      show({ type: 'failed', error: toError(error) })
      throw error
    }
  }

  /** Tells what is in a share, before it is fetched. @throws MeshError `files.*`; the signal's reason */
  look(name: string, signal: AbortSignal): Promise<OfferedManifest> {
    return this.#look({ name, signal, lists: this.#lists })
  }

  /** Ends it where it runs, and forgets it; what has come stays on the disk. */
  async remove(name: string): Promise<void> {
    await this.#end(name)
    this.#all.delete(name)
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.#end(name)))
  }

  async #end(name: string): Promise<void> {
    const running = this.#running.get(name)
    running?.end.abort(new Error('the download was ended'))
    await running?.done
  }

  /** Forgets the oldest that ended. */
  #makeRoom(): void {
    for (const name of this.#all.keys()) {
      if (this.#all.size < MAX_DOWNLOADS) return
      if (!this.#running.has(name)) this.#all.delete(name)
    }
  }
}
