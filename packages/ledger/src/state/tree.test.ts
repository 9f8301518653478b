import { stringifyExactJson } from '@mesh/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KeyedEntry } from '../entries/entry.ts'
import { addLimbs, entryLimbs, LIMBS, limbsToHex } from '../entries/fingerprint.ts'
import { TreeSnapshot } from './ledger-snapshot.ts'
import type { Position } from '../snapshot.ts'
import { treeGet } from './tree.ts'
import { treeDelete, treeFrom, treeSet } from './tree-edit.ts'
import { emptyTree, type Tree } from './tree-node.ts'
import { comparePositions } from './position-order.ts'

const head = { index: 0, timestamp: '', hash: '', prevHash: '' }
const view = (tree: Tree) => new TreeSnapshot({ head, tree, livenessMs: 1, admits: () => true })

const rowOf = (bucket: string, key: string, version: number, deleted: boolean): KeyedEntry => ({
  bucket,
  key,
  entry: { value: '1', owner: 'o', version: BigInt(version), updatedAt: 0, deleted, sig: null },
})

const bucketArb = fc.constantFrom('', 'a', 'a\0', 'b', 'healthcheck', '\u{1f600}', '\uffff', '__proto__')
const keyArb = fc.oneof(
  fc.integer({ min: 0, max: 400 }).map((n) => `k${n}`),
  fc.constantFrom('', '\0', '\u{1f600}', '\uffff'),
)
const positionArb = fc.record({ bucket: bucketArb, key: keyArb })
const stepArb = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('set' as const),
      at: positionArb,
      version: fc.nat(),
      deleted: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('delete' as const), at: positionArb }) },
)

/** The slow twin: a Map, sorted and summed anew for each question. */
function createTwin() {
  const rows = new Map<string, KeyedEntry>()
  const id = ({ bucket, key }: Position) => JSON.stringify([bucket, key])
  const sorted = () => [...rows.values()].toSorted(comparePositions)
  return {
    set: (row: KeyedEntry) => rows.set(id(row), row),
    delete: (at: Position) => rows.delete(id(at)),
    sorted,
    between: (from: Position | undefined, to: Position | undefined) =>
      sorted().filter(
        (row) =>
          (from === undefined || comparePositions(row, from) >= 0) &&
          (to === undefined || comparePositions(row, to) < 0),
      ),
  }
}

function sumOf(rows: readonly KeyedEntry[]): string {
  const sum = new Uint32Array(LIMBS)
  for (const row of rows) addLimbs(sum, 0, entryLimbs(row), 0)
  return limbsToHex(sum)
}

function play(steps: readonly (typeof stepArb extends fc.Arbitrary<infer S> ? S : never)[]) {
  const twin = createTwin()
  let tree = emptyTree
  for (const step of steps) {
    if (step.type === 'delete') {
      twin.delete(step.at)
      tree = treeDelete(tree, step.at)
    } else {
      const row = rowOf(step.at.bucket, step.at.key, step.version, step.deleted)
      twin.set(row)
      tree = treeSet(tree, row, entryLimbs(row))
    }
  }
  return { tree, twin }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('the tree against a slow twin', () => {
  const stepsArb = fc.array(stepArb, { maxLength: 1500, size: 'max' })

  test('holds, orders, counts and sums the same', () => {
    fc.assert(
      fc.property(stepsArb, positionArb, positionArb, fc.nat(1500), (steps, a, b, index) => {
        const { tree, twin } = play(steps)
        const snapshot = view(tree)
        expect([...snapshot.entries()]).toEqual(twin.sorted())
        for (const [from, to] of [
          [undefined, undefined],
          [a, undefined],
          [undefined, b],
          [a, b],
        ] as const) {
          const rows = twin.between(from, to)
          expect([...snapshot.entriesIn({ from, to })]).toEqual(rows)
          const summary = snapshot.summarize({ from, to })
          expect(summary.count).toBe(rows.length)
          expect(hex(summary.fingerprint)).toBe(sumOf(rows))
          const row = rows[index]
          const position = row === undefined ? undefined : { bucket: row.bucket, key: row.key }
          expect(snapshot.positionAt({ from, to }, index)).toEqual(position)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('lists, counts and digests buckets the same', () => {
    fc.assert(
      fc.property(stepsArb, (steps) => {
        const { tree, twin } = play(steps)
        const snapshot = view(tree)
        const live = twin.sorted().filter(({ entry }) => !entry.deleted)
        const byBucket = Map.groupBy(live, ({ bucket }) => bucket)
        expect(snapshot.buckets()).toEqual([...byBucket.keys()])
        for (const [bucket, rows] of byBucket) expect(snapshot.count(bucket)).toBe(rows.length)
        const compared = live.filter(({ bucket }) => bucket !== 'healthcheck')
        byBucket.delete('healthcheck')
        expect(snapshot.digest()).toEqual({
          entries: compared.length,
          digest: sumOf(compared),
          buckets: Object.fromEntries([...byBucket].map(([bucket, rows]) => [bucket, sumOf(rows)])),
        })
      }),
      { numRuns: 40 },
    )
  })

  test('an old root never changes', () => {
    fc.assert(
      fc.property(stepsArb, stepsArb, (before, after) => {
        const { tree } = play(before)
        const held = stringifyExactJson([...view(tree).entries()])
        const sums = limbsToHex(tree.sums)
        let next = tree
        for (const step of after) {
          if (step.type === 'delete') next = treeDelete(next, step.at)
          else {
            const row = rowOf(step.at.bucket, step.at.key, step.version, step.deleted)
            next = treeSet(next, row, entryLimbs(row))
          }
        }
        expect(stringifyExactJson([...view(tree).entries()])).toBe(held)
        expect(limbsToHex(tree.sums)).toBe(sums)
      }),
      { numRuns: 20 },
    )
  })
})

test.each([0, 1, 31, 32, 33, 500, 5000])(
  'a tree of %i rows built at once is the tree of as many writes',
  (size) => {
    const rows = Array.from({ length: size }, (_, n) =>
      rowOf('b', `k${String(n).padStart(6, '0')}`, n, n % 3 === 0),
    )
    const built = treeFrom(rows, entryLimbs)
    let written = emptyTree
    for (const row of rows) written = treeSet(written, row, entryLimbs(row))
    expect([...view(built).entries()]).toEqual([...view(written).entries()])
    expect(built.sums).toEqual(written.sums)
    expect(built.live).toBe(written.live)
  },
)

test('a tree emptied in any order is empty, and finds what is left on the way', () => {
  const rows = Array.from({ length: 3000 }, (_, n) => rowOf('b', `k${(n * 7919) % 3000}`, n, false))
  let tree = treeFrom(rows.toSorted(comparePositions), entryLimbs)
  for (const [at, row] of rows.entries()) {
    tree = treeDelete(tree, row)
    expect(treeGet(tree, row)).toBeUndefined()
    expect(rows.slice(at + 1, at + 2).map((next) => treeGet(tree, next))).toEqual(rows.slice(at + 1, at + 2))
  }
  expect(tree.size).toBe(0)
  expect(limbsToHex(tree.sums)).toBe(limbsToHex(emptyTree.sums))
})
