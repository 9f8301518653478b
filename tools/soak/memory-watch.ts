/** Resident memory of the nodes that stay, over the time of a soak. */
import { readFileSync } from 'node:fs'
import type { SoakNode } from './soak-nodes.ts'

export interface MemoryWatch {
  sample(nodes: readonly SoakNode[]): void
  /** Takes the figures that stand at the end, after the calm. */
  finish(nodes: readonly SoakNode[]): void
  /** Growth of each node between the end of the warm-up and the end, in MB. */
  grownMb(): readonly number[]
  /** The largest figure of any node, in MB. */
  peakMb(): number
}

/** The share of the time after which a node has seen all kinds of work: what it holds by then is no growth. */
const WARM_UP_SHARE = 0.5
/** The part of the time in which samples count as those of the end of the warm-up. */
const WINDOW_SHARE = 0.2

/** @param durationMs the time of the soak, from now on */
export function createMemoryWatch(durationMs: number): MemoryWatch {
  const began = performance.now()
  const warm = new Map<number, number[]>()
  const last = new Map<number, number>()
  let peak = 0
  const read = ({ target: { pid } }: SoakNode) => {
    const mb = residentMb(pid)
    peak = Math.max(peak, mb)
    return { pid, mb }
  }
  return {
    sample(nodes) {
      const share = (performance.now() - began) / durationMs
      for (const node of nodes) {
        const { pid, mb } = read(node)
        if (share < WARM_UP_SHARE || share > WARM_UP_SHARE + WINDOW_SHARE) continue
        warm.set(pid, [...(warm.get(pid) ?? []), mb])
      }
    },
    finish(nodes) {
      for (const node of nodes) {
        const { pid, mb } = read(node)
        last.set(pid, mb)
      }
    },
    grownMb: () => [...last].map(([pid, mb]) => mb - median(warm.get(pid) ?? [mb])),
    peakMb: () => peak,
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** Resident memory in MB; 0 when the process is gone. */
function residentMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
