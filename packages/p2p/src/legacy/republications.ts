/**
 * Publications that legacy nodes may have missed around a change of the keys (docs/WIRE.md 3.3): they could not open them yet,
 * or were rebuilding their gossip.
 */
import { MAX_REPUBLISHED, MAX_REPUBLISHED_BYTES } from './limits.ts'

/** How far around a boundary publications are repeated: from `beforeMs` before it to `afterMs` after it, at `afterMs`. */
interface RepublishSpan {
  readonly beforeMs: number
  readonly afterMs: number
}

/** One of our own publications; its nonce stays, so that members know a repetition. */
export interface Publication {
  readonly plaintext: Uint8Array
  readonly nonce: Uint8Array
  /** The time of its first publication, in unix ms. */
  readonly atMs: number
}

/** Keeps our own publications that a boundary may have swallowed. */
export interface Republications {
  /** Notes a publication; one that is far from every boundary is not kept. */
  note(publication: Publication): void
  /** Gives, once after each boundary, what to publish again under the key that is current by then. */
  takeDue(nowMs: number): readonly Publication[]
}

/** Creates the memory of one topic; `intervalMs` is how long one key lasts. */
export function createRepublications(intervalMs: number, span: RepublishSpan): Republications {
  const { beforeMs, afterMs } = span
  let kept: Publication[] = []
  let bytes = 0
  /** The last boundary whose publications were given out. */
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
