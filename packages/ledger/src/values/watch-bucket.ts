/** The changes of one bucket, one after the other. A slow reader gets the last change of each key. */
import type { Ledger } from '../ledger.ts'
import { changeOf, type MeshChange } from './entry-values.ts'

interface WatchBucketInit {
  readonly bucket: string
  readonly ledger: Pick<Ledger, 'snapshot' | 'subscribe'>
  /** False: the entries that are there come first. */
  readonly isFromNow: boolean
  /** Aborts when the node closes, which ends the changes. */
  readonly closed: AbortSignal
  /** Ends them with its reason. */
  readonly signal: AbortSignal | undefined
}

/** Collects changes from the call on, until the loop ends, the signal aborts or the node closes. */
export function watchBucket(init: WatchBucketInit): AsyncIterableIterator<MeshChange> {
  return new BucketWatch(init)
}

class BucketWatch implements AsyncIterableIterator<MeshChange> {
  /** The changes that nobody has read, by key: at most as many as the bucket has keys. */
  readonly #unread = new Map<string, MeshChange>()
  readonly #ends: (() => void)[] = []
  #wake = () => {}
  /** Undefined while it goes on. */
  #ended: { readonly error?: unknown } | undefined

  constructor({ bucket, ledger, isFromNow, closed, signal }: WatchBucketInit) {
    if (!isFromNow)
      for (const { key, entry } of ledger.snapshot().entries(bucket))
        if (!entry.deleted) this.#unread.set(key, changeOf(key, entry))
    this.#ends.push(
      ledger.subscribe((event) => {
        if (event.type !== 'committed') return
        for (const change of event.changes)
          if (change.bucket === bucket) this.#add(changeOf(change.key, change.entry))
      }),
    )
    this.#endWith(closed, () => ({}))
    if (signal !== undefined) this.#endWith(signal, () => ({ error: signal.reason as unknown }))
  }

  async next(): Promise<IteratorResult<MeshChange>> {
    for (;;) {
      if (this.#ended !== undefined && 'error' in this.#ended) throw this.#ended.error
      const [first] = this.#unread.values()
      if (first !== undefined && this.#ended === undefined) {
        this.#unread.delete(first.key)
        return { value: first, done: false }
      }
      if (this.#ended !== undefined) return { value: undefined, done: true }
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }

  async return(): Promise<IteratorResult<MeshChange>> {
    this.#end({})
    return { value: undefined, done: true }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #add(change: MeshChange): void {
    // the newest change of a key stands last, as it came last
    this.#unread.delete(change.key)
    this.#unread.set(change.key, change)
    this.#wake()
  }

  #endWith(signal: AbortSignal, how: () => { readonly error?: unknown }): void {
    const onAbort = () => this.#end(how())
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    this.#ends.push(() => signal.removeEventListener('abort', onAbort))
  }

  #end(how: { readonly error?: unknown }): void {
    this.#ended ??= how
    for (const end of this.#ends.splice(0)) end()
    this.#unread.clear()
    this.#wake()
  }
}
