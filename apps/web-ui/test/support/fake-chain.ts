/** The blocks of a fake node: a chain that a test makes, pages through and replaces. */
import type { BlocksView, KeptBlockView, SignedEntryView } from '@mesh/api-contract'
import { canonicalBytes, type Signer } from '@mesh/ledger'
import type { FakeNode } from './fake-node.ts'

type BlockHead = BlocksView['Blocks'][number]

/** A block that changed keys of the bucket. */
export function blockHead(Index: number, Buckets: readonly string[] = ['notes'], fork = ''): BlockHead {
  const hash = (index: number) => `${fork}${index}`.padStart(64, 'a')
  return {
    Index,
    Timestamp: '2026-11-28T10:00:00Z',
    Hash: hash(Index),
    PrevHash: hash(Index - 1),
    Changes: Buckets.length,
    Buckets: [...Buckets],
  }
}

/** Answers as a node that keeps the blocks from `first` to `head`. */
export function answerChain(
  node: FakeNode,
  chain: { readonly head: number; readonly first: number; readonly at?: (index: number) => BlockHead },
): void {
  const { head, first, at = blockHead } = chain
  node.answer('/api/blocks', (query) => {
    const newest = Math.min(head, Number(query.get('before') ?? head + 1) - 1)
    const count = Math.max(0, Math.min(Number(query.get('last')), newest - first + 1))
    const Blocks = Array.from({ length: count }, (_, step) => at(newest - step))
    return { status: 200, body: { Head: head, First: first, Blocks } }
  })
}

/** Answers with one block and what it changed. */
export function answerBlock(node: FakeNode, block: KeptBlockView): void {
  node.answer(`/api/blocks/${block.Index}`, () => ({ status: 200, body: block }))
}

/** An entry with the signature of its owner. */
export function signedEntry(
  signer: Signer,
  at: { readonly bucket: string; readonly key: string },
  Value: string,
): SignedEntryView {
  const written = { Owner: signer.peerId, Version: 7n, UpdatedAt: 1_795_860_000, Deleted: false }
  const entry = {
    value: Value,
    owner: signer.peerId,
    version: written.Version,
    updatedAt: written.UpdatedAt,
    deleted: false,
    sig: null,
  }
  const sig = signer.sign(canonicalBytes({ ...at, entry }))
  return { ...written, Value, Sig: Buffer.from(sig).toString('base64') }
}
