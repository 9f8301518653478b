/** Records what the processor does for a while, sampled by V8. */
import { type Profiler, Session } from 'node:inspector/promises'
import { type Clock, delay } from '@mesh/core'
import { PprofBuilder } from './pprof-builder.ts'

/** The distance between two samples, in microseconds. */
const SAMPLE_INTERVAL_US = 1_000
const NS_PER_US = 1_000
/** The name of V8's node for the time in which nothing ran. */
const IDLE = '(idle)'

/** Samples the running program. Rejects with the signal's reason. */
export async function takeCpuProfile(
  seconds: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_INTERVAL_US })
    await session.post('Profiler.start')
    await delay(clock, seconds * 1_000, signal)
    const { profile } = await session.post('Profiler.stop')
    return encodeCpuProfile(profile, clock.now())
  } finally {
    session.disconnect()
  }
}

/** @param takenAt the end of the profile, in unix ms */
export function encodeCpuProfile(profile: Profiler.Profile, takenAt: number): Uint8Array {
  const builder = new PprofBuilder({
    sampleTypes: [
      ['samples', 'count'],
      ['cpu', 'nanoseconds'],
    ],
    periodType: ['cpu', 'nanoseconds'],
    period: SAMPLE_INTERVAL_US * NS_PER_US,
    shown: 'cpu',
    takenAt,
    durationMs: (profile.endTime - profile.startTime) / 1_000,
  })
  const totals = sumSamples(profile)
  const parents = new Map<number, number>()
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  for (const { id, children = [] } of profile.nodes) for (const child of children) parents.set(child, id)
  for (const [id, { count, us }] of totals) {
    if (nodes.get(id)?.callFrame.functionName === IDLE) continue
    const stack: number[] = []
    // the root, which has no parent, is no function
    for (let at: number | undefined = id; at !== undefined && parents.has(at); at = parents.get(at)) {
      const node = nodes.get(at)
      if (node !== undefined) stack.push(builder.locationOf(node.callFrame))
    }
    if (stack.length > 0) builder.add(stack, [count, us * NS_PER_US])
  }
  return builder.encode()
}

/** Sums, for each node, its samples and the microseconds that they stand for. */
function sumSamples({ samples = [], timeDeltas = [] }: Profiler.Profile) {
  const totals = new Map<number, { count: number; us: number }>()
  for (const [at, id] of samples.entries()) {
    const total = totals.get(id) ?? { count: 0, us: 0 }
    total.count++
    total.us += Math.max(0, timeDeltas[at] ?? 0)
    totals.set(id, total)
  }
  return totals
}
