/**
 * Feeds decoders with mutated messages and random bytes: 1 nothing may be thrown but what the decoder declares; 2 no input
 * may take long; 3 memory may not grow. A failure names the decoder, the input and fast-check's seed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import v8 from 'node:v8'
import vm from 'node:vm'
import { MeshError } from '@mesh/core'
import fc from 'fast-check'
import type { Decoder } from './decoder.ts'
import { MAX_INPUT_BYTES, mutated, mutation } from './mutations.ts'

export interface FuzzInit {
  readonly decoders: readonly Decoder[]
  /** How many inputs each decoder gets. */
  readonly runs: number
  readonly seed: number
}

export interface FuzzResult {
  readonly name: string
  /** How many inputs were decoded. */
  readonly runs: number
  /** The most processor time that one input took, in ms. */
  readonly slowestMs: number
  /** How much the heap held more at the end, in MB. */
  readonly grownMb: number
  /** What is wrong; undefined when nothing is. */
  readonly failure: string | undefined
}

/** An input that takes longer on every try keeps the node from all else. */
const MAX_INPUT_MS = 500
const TRIES = 3
const MAX_GROWTH_MB = 48

export async function runFuzz({ decoders, runs, seed }: FuzzInit): Promise<readonly FuzzResult[]> {
  const results: FuzzResult[] = []
  for (const decoder of decoders) results.push(await fuzzOne(decoder, { runs, seed }))
  return results
}

async function fuzzOne(
  decoder: Decoder,
  { runs, seed }: { readonly runs: number; readonly seed: number },
): Promise<FuzzResult> {
  const before = await heldMb()
  let [count, slowestMs] = [0, 0]
  const property = fc.asyncProperty(inputsOf(decoder), async (input) => {
    count++
    const took = await timed(decoder, input)
    slowestMs = Math.max(slowestMs, took)
    if (took <= MAX_INPUT_MS) return
    // other work of this process may have fallen into it
    let least = took
    for (let again = 1; again < TRIES; again++) least = Math.min(least, await timed(decoder, input))
    if (least > MAX_INPUT_MS)
      throw new Error(`an input of ${input.length} bytes takes ${Math.round(least)} ms of the processor`)
  })
  const checked = await fc.check(property, { numRuns: runs, seed, endOnFailure: false })
  const grownMb = Math.max(0, (await heldMb()) - before)
  const grew = grownMb > MAX_GROWTH_MB ? `the heap grew by ${grownMb.toFixed(0)} MB` : undefined
  return {
    name: decoder.name,
    runs: count,
    slowestMs,
    grownMb,
    failure: checked.failed ? describe(checked) : grew,
  }
}

/** Mutated real messages, real messages as they are, and bytes that are none. */
function inputsOf({ seeds, form }: Decoder): fc.Arbitrary<Uint8Array> {
  const changed = fc
    .record({ seed: fc.nat({ max: seeds.length - 1 }), steps: fc.array(mutation, { maxLength: 6 }) })
    .map(({ seed, steps }) => mutated(seeds[seed] ?? new Uint8Array(), steps, { form, others: seeds }))
  return fc.oneof(
    { weight: 8, arbitrary: changed },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 512 }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.nat({ max: 255 }), fc.nat({ max: MAX_INPUT_BYTES }))
        .map(([byte, length]) => new Uint8Array(length).fill(byte)),
    },
  )
}

/**
 * The processor time that one input took, in ms: how long it was waited for says how busy the machine is.
 * @throws what the decoder may not throw
 */
async function timed(decoder: Decoder, input: Uint8Array): Promise<number> {
  const before = process.cpuUsage()
  try {
    await decoder.decode(input)
  } catch (error) {
    if (!(decoder.mayRefuse === true && error instanceof MeshError)) throw error
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

function describe({
  counterexample,
  seed,
  counterexamplePath,
  errorInstance,
}: fc.RunDetails<[Uint8Array]>): string {
  const [input = new Uint8Array()] = counterexample ?? []
  const shown = Buffer.from(input.subarray(0, 200)).toString('hex')
  const error =
    errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance)
  return `${error}\n  input ${shown}${input.length > 200 ? '…' : ''} (${input.length} bytes), seed ${seed}, path ${counterexamplePath}`
}

/** What is alive on the heap, in MB. What holds memory outside of it gives that back a turn after it was collected. */
async function heldMb(): Promise<number> {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  for (let turn = 0; turn < 2; turn++) {
    collect()
    await nextTurn()
  }
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 2 ** 20
}
