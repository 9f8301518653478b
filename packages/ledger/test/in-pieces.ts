/** A block's steps and head as one text, read of all of it at once or of pieces. */
import { type Decoded, decodeBlock, decodePieces } from '../src/blocks/decode-block.ts'
import type { BlockHead } from '../src/snapshot.ts'

export function readWhole(text: Uint8Array): string {
  const steps: Decoded[] = []
  const decoding = decodeBlock(text)
  for (let step = decoding.next(); ; step = decoding.next()) {
    if (step.done === true) return print(steps, step.value)
    steps.push(step.value)
  }
}

/** @param lengthOf gives the length of the next piece, in bytes */
export function readInPieces(text: Uint8Array, lengthOf: () => number): string {
  const steps: Decoded[] = []
  const decoding = decodePieces()
  let at = 0
  let piece: Uint8Array | undefined
  for (;;) {
    const step = decoding.next(piece)
    // a piece is the source's again
    piece?.fill(0x78)
    piece = undefined
    if (step.done === true) return print(steps, step.value)
    if (step.value.type !== 'more') {
      steps.push(step.value)
      continue
    }
    if (at >= text.length) continue
    // a copy, also of a Buffer
    piece = Uint8Array.from(text.subarray(at, at + lengthOf()))
    at += piece.length
  }
}

/** Lengths up to 256 KiB, the same ones each time for one text. */
export function cutAnywhere(text: Uint8Array): () => number {
  let seed = text.length
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return 1 + (seed >> 13)
  }
}

function print(steps: readonly Decoded[], head: BlockHead): string {
  const write = (_name: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
  return JSON.stringify({ steps, head }, write)
}
