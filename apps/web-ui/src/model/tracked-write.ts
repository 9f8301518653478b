/** A write of this page, and what became of it. */
import type { ApiError } from '@mesh/api-client'

export type WriteRequest = { readonly bucket: string; readonly key: string } & (
  | { readonly action: 'put'; readonly value: unknown }
  /** `previous`: what undoing writes again. */
  | { readonly action: 'delete'; readonly previous: unknown }
)

export type WriteState =
  | { readonly state: 'announcing' }
  /** The node did not say in time; it will commit when it can. */
  | { readonly state: 'announced' }
  | { readonly state: 'committed'; readonly block: number }
  /** A newer write of the key took its place. */
  | { readonly state: 'superseded' }
  | { readonly state: 'refused'; readonly error: ApiError }

/** One write of this page and what became of it. */
export interface TrackedWrite {
  readonly request: WriteRequest
  /** The time of the write, in unix ms. */
  readonly at: number
  readonly outcome: WriteState
}
