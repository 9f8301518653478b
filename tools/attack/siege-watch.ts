/** Writes at the nodes of a siege as honest people do, and looks how they are meanwhile. */
import { send, timeHealth } from './health.ts'
import { waitOfProcess, workOfProcess } from './processor-wait.ts'
import { residentMb } from './resident.ts'
import type { AttackTarget } from './scenario.ts'
import { pause } from './until-true.ts'

/** What was seen of one node. */
export interface NodeFigures {
  /** The greatest resident memory of the first minute, of the first half, and of all, and that of now, in MB. */
  firstMb: number
  halfMb: number
  greatestMb: number
  nowMb: number
  /** The longest that health took, in ms, and the same without what the node waited for a processor. */
  healthMs: number
  ownHealthMs: number
  /** Seconds in which its main thread ran, and in which it waited for a processor. */
  ranS: number
  waitedS: number
}

export interface Watched {
  /** The keys that nodes said were written. */
  readonly written: readonly string[]
  readonly nodes: readonly NodeFigures[]
}

const WRITE_EVERY_MS = 1_000
const HEALTH_EVERY_MS = 500
const FIRST_MS = 60_000

/** Watches until the signal aborts. @param ms how long the attacks last */
export async function watchNodes(
  nodes: readonly AttackTarget[],
  ms: number,
  signal: AbortSignal,
): Promise<Watched> {
  const figures = nodes.map(createFigures)
  const began = performance.now()
  const watching = nodes.map(async (node, at) => {
    const seen = figures[at]
    while (seen !== undefined && !signal.aborted) {
      const { tookMs, ownMs } = await timeHealth(node.healthUrl, node.pid)
      seen.healthMs = Math.max(seen.healthMs, tookMs)
      seen.ownHealthMs = Math.max(seen.ownHealthMs, ownMs)
      const sinceMs = performance.now() - began
      lookAt(seen, node, { isFirst: sinceMs < FIRST_MS, isHalf: sinceMs < ms / 2 })
      await pause(HEALTH_EVERY_MS, signal)
    }
  })
  const written = await writeUntil(nodes, signal)
  await Promise.all(watching)
  return { written, nodes: figures }
}

function createFigures(): NodeFigures {
  return { firstMb: 0, halfMb: 0, greatestMb: 0, nowMb: 0, healthMs: 0, ownHealthMs: 0, ranS: 0, waitedS: 0 }
}

function lookAt(
  seen: NodeFigures,
  { pid }: AttackTarget,
  { isFirst, isHalf }: { readonly isFirst: boolean; readonly isHalf: boolean },
): void {
  seen.nowMb = residentMb(pid)
  if (isFirst) seen.firstMb = Math.max(seen.firstMb, seen.nowMb)
  // what is bounded fills up to its bound: only what grows on in the second half has none
  if (isHalf) seen.halfMb = Math.max(seen.halfMb, seen.nowMb)
  seen.greatestMb = Math.max(seen.greatestMb, seen.nowMb)
  seen.ranS = workOfProcess(pid) / 1000
  seen.waitedS = waitOfProcess(pid) / 1000
}

/** Writes at each node in turn, each second, without waiting for the one before. */
async function writeUntil(nodes: readonly AttackTarget[], signal: AbortSignal): Promise<readonly string[]> {
  const written: string[] = []
  const writes: Promise<void>[] = []
  for (let at = 0; !signal.aborted; at++) {
    const node = nodes[at % nodes.length]
    if (node === undefined) break
    writes.push(write(node, `siege-${at}`, written))
    await pause(WRITE_EVERY_MS, signal)
  }
  await Promise.all(writes)
  return written
}

async function write({ url }: AttackTarget, key: string, written: string[]): Promise<void> {
  const { status } = await send('PUT', `${url}/api/ledger/notes/${key}/x`)
  if (status === 200) written.push(key)
}
