/** Opens a block's text to decode it: one that is all there, or one that comes piece by piece, each of which has its time. */
import { type Clock, createDeadline, MeshError, untilAborted } from '@mesh/core'
import { type BlockSteps, decodeBlock, decodePieces } from './decode-block.ts'
import type { BlockText } from '../ledger.ts'
import { PIECE_TIMEOUT_MS, TEXT_WINDOW_BYTES } from '../limits.ts'

export interface OpenBlock {
  readonly steps: BlockSteps
  /**
   * Gives the next piece, which a step `more` asks for; undefined when the text has ended. Rejects with what the text's
   * source throws, with `ledger.block_timeout`, and with the signal's reason.
   */
  nextPiece(): Promise<Uint8Array | undefined>
  /** Lets go of a text that has not come to its end. */
  close(): void
}

interface Surroundings {
  readonly clock: Clock
  readonly signal: AbortSignal
}

export function openBlock(text: BlockText, { clock, signal }: Surroundings): OpenBlock {
  if (text instanceof Uint8Array) {
    return { steps: decodeBlock(text), nextPiece: () => Promise.resolve(undefined), close() {} }
  }
  const pieces = text[Symbol.asyncIterator]()
  return {
    steps: decodePieces(),
    async nextPiece() {
      const deadline = createDeadline({
        clock,
        ms: PIECE_TIMEOUT_MS,
        signal,
        isPatient: true,
        reason: silent,
      })
      try {
        const { done, value } = await untilAborted(pieces.next(), deadline.signal)
        return done === true ? undefined : value
      } finally {
        deadline.stop()
      }
    },
    close() {
      // one that is silent may never answer
      void pieces.return?.().catch(() => undefined)
    },
  }
}

/** Bytes that a block holds while it waits or is decoded. */
export function heldBytes(text: BlockText): number {
  return text instanceof Uint8Array ? text.length : TEXT_WINDOW_BYTES
}

function silent(): MeshError<'ledger.block_timeout'> {
  return new MeshError('ledger.block_timeout', `a block brought nothing for ${PIECE_TIMEOUT_MS / 1000} s`)
}
