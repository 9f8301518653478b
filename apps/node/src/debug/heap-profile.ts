/** Tells what is on the heap and where it was made: sampled by V8 from the node's start on. */
import { Session } from 'node:inspector/promises'
import type { Clock } from '@mesh/core'
import { type Frame, PprofBuilder } from './pprof-builder.ts'

/** One sample for about so many bytes, as Go takes them; it costs the node less than a hundredth of its time. */
const SAMPLE_INTERVAL_BYTES = 512 * 1024

/** A node of the sampled heap as V8 gives it, which Node's types know in part. */
interface HeapNode {
  readonly id: number
  readonly callFrame: Frame
  readonly selfSize: number
  readonly children: readonly HeapNode[]
}

interface SampledHeap {
  readonly head: HeapNode
  readonly samples: readonly { readonly nodeId: number; readonly size: number }[]
}

export interface HeapSampling {
  /** Gives what is alive of what was made since the start. */
  take(options: { readonly collectsGarbage: boolean }): Promise<Uint8Array>
}

/** Samples from now on, for as long as the process runs. */
export async function startHeapSampling(clock: Clock): Promise<HeapSampling> {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.enable')
  await session.post('HeapProfiler.startSampling', { samplingInterval: SAMPLE_INTERVAL_BYTES })
  const startedMs = clock.monotonic()
  return {
    async take({ collectsGarbage }) {
      if (collectsGarbage) await session.post('HeapProfiler.collectGarbage')
      const { profile } = await session.post('HeapProfiler.getSamplingProfile')
      return encodeHeapProfile(profile as unknown as SampledHeap, {
        takenAt: clock.now(),
        durationMs: clock.monotonic() - startedMs,
      })
    },
  }
}

export function encodeHeapProfile(
  profile: SampledHeap,
  { takenAt, durationMs }: { readonly takenAt: number; readonly durationMs: number },
): Uint8Array {
  const builder = new PprofBuilder({
    sampleTypes: [
      ['inuse_objects', 'count'],
      ['inuse_space', 'bytes'],
    ],
    periodType: ['space', 'bytes'],
    period: SAMPLE_INTERVAL_BYTES,
    shown: 'inuse_space',
    takenAt,
    durationMs,
  })
  const objects = countObjects(profile)
  // the root is no function
  const open = profile.head.children.map((node) => ({ node, above: [] as readonly number[] }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, above } = next
    const stack = [builder.locationOf(node.callFrame), ...above]
    if (node.selfSize > 0) builder.add(stack, [objects.get(node.id) ?? 1, node.selfSize])
    for (const child of node.children) open.push({ node: child, above: stack })
  }
  return builder.encode()
}

/** Counts the samples of each node; a sample's size stands for all objects that it was drawn from. */
function countObjects({ samples }: SampledHeap): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  for (const { nodeId } of samples) counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1)
  return counts
}
