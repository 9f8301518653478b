/** A short form of `npm run fuzz`: every decoder of the node, with a seed that never changes. */
import { afterAll, expect, test } from 'vitest'
import { stopDecoders } from '../fuzz/decoder.ts'
import { openDecoders } from '../fuzz/decoders.ts'
import { runFuzz } from '../fuzz/run-fuzz.ts'

const decoders = await openDecoders()
afterAll(() => stopDecoders(decoders))

test.each(decoders.map((decoder) => [decoder.name, decoder] as const))(
  '%s throws nothing that it does not declare, and neither hangs nor grows',
  async (_name, decoder) => {
    const [result] = await runFuzz({ decoders: [decoder], runs: 150, seed: 20_260 })
    expect(result?.failure).toBeUndefined()
    expect(result?.runs).toBeGreaterThanOrEqual(150)
  },
)
