/** Writes of a soak: new keys, changed ones and deleted ones, at whichever node runs, and what stands of them at the end. */
import type { SoakNodes } from './soak-nodes.ts'

export interface SoakWriter {
  /** Makes one write. Rejects when the node did not take it, which is no failure: it may be ending. */
  write(): Promise<void>
  /** How many writes were committed. */
  made(): number
  /** The values that must stand, by key; undefined for what was deleted. */
  expected(): ReadonlyMap<string, string | undefined>
}

const BUCKET = 'notes'
const WAIT = '10s'
/** How many keys each node writes anew before it changes old ones. */
const KEYS = 40

export function createSoakWriter(nodes: SoakNodes): SoakWriter {
  const expected = new Map<string, string | undefined>()
  let [turn, made] = [0, 0]
  return {
    made: () => made,
    expected: () => expected,
    async write() {
      const running = nodes.running()
      const node = running[turn % Math.max(1, running.length)]
      const at = turn++
      if (node === undefined) return
      const { client, id } = node.process
      // keys of its own, so that no write is refused since another owns the key
      const key = `${id}-${at % KEYS}`
      // what is not answered may stand or not
      const before = expected.get(key)
      const existed = expected.has(key)
      expected.delete(key)
      if (at % 7 === 3 && existed && before !== undefined) {
        await client.deleteEntry({ bucket: BUCKET, key, wait: WAIT })
        expected.set(key, undefined)
      } else {
        const { State } = await client.putText({ bucket: BUCKET, key, value: `v${at}`, wait: WAIT })
        if (State === 'Committed') expected.set(key, `v${at}`)
      }
      made++
    },
  }
}
