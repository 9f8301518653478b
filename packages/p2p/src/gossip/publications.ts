import { MAX_REPUBLISHED, MAX_REPUBLISHED_BYTES } from '../limits.ts'
import type { Overlap } from './rotation.ts'

/** One of our own publications; its nonce stays, so that members know a repetition. */
export interface Publication {
  readonly plaintext: Uint8Array
  readonly nonce: Uint8Array
  /** Unix ms. */
  readonly atMs: number
}

/**
 * Own publications that a boundary may have swallowed: an original node that crossed it before us could not open
 * them, and one that was rebuilding its gossip never read them.
 */
export interface Publications {
  note(publication: Publication): void
  /** Once after each boundary: what to publish again, under the key that is current by then. */
  takeDue(nowMs: number): readonly Publication[]
}

export function createPublications(intervalMs: number, overlap: Overlap): Publications {
  const { beforeMs, afterMs } = overlap.republish
  let kept: Publication[] = []
  let bytes = 0
  /** The last boundary that was seen to. */
  let done: number | undefined

  const isNear = ({ atMs }: Publication, boundaryMs: number) =>
    atMs >= boundaryMs - beforeMs && atMs < boundaryMs + afterMs

  const keep = (wanted: (publication: Publication) => boolean) => {
    kept = kept.filter(wanted)
    bytes = kept.reduce((sum, { plaintext }) => sum + plaintext.length, 0)
  }

  return {
    note(publication) {
      const { atMs } = publication
      const last = Math.floor(atMs / intervalMs) * intervalMs
      // neither shortly after the last boundary nor, maybe, shortly before the next
      if (!isNear(publication, last) && !isNear(publication, last + intervalMs)) return
      kept.push(publication)
      bytes += publication.plaintext.length
      while (kept.length > MAX_REPUBLISHED || bytes > MAX_REPUBLISHED_BYTES) {
        bytes -= kept.shift()?.plaintext.length ?? 0
      }
    },
    takeDue(nowMs) {
      const boundaryMs = Math.floor(nowMs / intervalMs) * intervalMs
      done ??= boundaryMs
      if (boundaryMs <= done || nowMs < boundaryMs + afterMs) return []
      done = boundaryMs
      const due = kept.filter((publication) => isNear(publication, boundaryMs))
      keep(({ atMs }) => atMs >= boundaryMs + afterMs)
      return due
    },
  }
}
