import { Problem } from '../messages/problem.ts'
import type { KeptBlocks } from '../views/kept-blocks.ts'
import { type HandlersOf, prepared } from './handler.ts'

/** Reads of the last blocks. */
export function createBlockReads(blocks: KeptBlocks): HandlersOf<'listBlocks' | 'getKeptBlock'> {
  return {
    listBlocks: (query) => blocks.list(query),
    getKeptBlock({ index }) {
      const body = blocks.text(index)
      if (body === undefined) throw new Problem('ledger.no_block', `this node does not keep block ${index}`)
      return prepared({ body })
    },
  }
}
