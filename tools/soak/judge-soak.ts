/** The verdict on a soak: nobody failed, nothing grew, no write was lost, and all ledgers are equal. */
import { pause } from '../attack/until-true.ts'
import type { MemoryWatch } from './memory-watch.ts'
import type { SoakNodes } from './soak-nodes.ts'
import type { SoakWriter } from './soak-writer.ts'

export interface SoakResult {
  readonly minutes: number
  readonly nodes: number
  readonly restarts: number
  /** How many writes were committed, and how many keys have not the value of the last one on every node. */
  readonly writes: number
  readonly wrong: number
  /** How many different ledgers there are at the end; 1 when all are equal. */
  readonly ledgers: number
  /** The buckets in which they differ, each with how many forms it has. */
  readonly unequal: readonly string[]
  /** The buckets that were the last to become equal. */
  readonly equalLast: readonly string[]
  /** How long the ledgers took to be equal after the calm, in s. */
  readonly equalAfterS: number
  /** Errors that nobody caught, and nodes that ended by themselves. */
  readonly failures: number
  /** The greatest growth of a node that stayed, from the end of the warm-up to the end, and the largest figure, in MB. */
  readonly grownMb: number
  readonly peakMb: number
  readonly broke: string | undefined
}

/** How much a node may have grown, in MB: what a collection that has not run yet leaves behind. */
const MAX_GROWTH_MB = 40
/** How long the ledgers may take to be equal after the last attack, in ms: its claims last as long as a lease. */
const EQUAL_MS = 300_000
/** How often the ledgers are compared, and how often is told what differs, in ms. */
const LOOK_EVERY_MS = 500
const TELL_EVERY_MS = 10_000

interface Soaked {
  readonly minutes: number
  readonly nodes: SoakNodes
  readonly memory: MemoryWatch
  readonly writer: SoakWriter
  /** Hears what is waited for, and what failed. */
  readonly tell: (line: string) => void
}

export async function judgeSoak({ minutes, nodes, memory, writer, tell }: Soaked): Promise<SoakResult> {
  const { ledgers, unequal, equalLast, equalAfterS } = await untilEqual(nodes, tell)
  const failures = nodes.failures()
  for (const failure of failures) tell(`failure: ${failure}`)
  const result = {
    minutes,
    nodes: nodes.running().length,
    restarts: nodes.churned(),
    writes: writer.made(),
    wrong: await countWrong(nodes, writer),
    ledgers,
    unequal,
    equalLast,
    equalAfterS,
    failures: failures.length,
    grownMb: Math.round(Math.max(0, ...memory.grownMb())),
    peakMb: Math.round(memory.peakMb()),
  }
  return { ...result, broke: failures[0] ?? brokenOf(result) }
}

type Equality = Pick<SoakResult, 'ledgers' | 'unequal' | 'equalLast' | 'equalAfterS'>

/** Waits until all ledgers are equal, and tells meanwhile which buckets are not. */
async function untilEqual(nodes: SoakNodes, tell: (line: string) => void): Promise<Equality> {
  const began = performance.now()
  const waitedMs = () => performance.now() - began
  let equalLast: readonly string[] = []
  for (let toldMs = 0; ; await pause(LOOK_EVERY_MS)) {
    const digests = await Promise.all(nodes.running().map(({ process }) => process.client.getDigest()))
    const ledgers = new Set(digests.map(({ Digest }) => Digest)).size
    const unequal = unequalBuckets(digests.map(({ Buckets }) => Buckets))
    const equalAfterS = Math.round(waitedMs() / 1_000)
    if (ledgers === 1 || waitedMs() > EQUAL_MS) return { ledgers, unequal, equalLast, equalAfterS }
    equalLast = unequal
    if (waitedMs() - toldMs < TELL_EVERY_MS) continue
    toldMs = waitedMs()
    tell(`${ledgers} different ledgers after ${equalAfterS} s; forms by bucket: ${unequal.join(', ')}`)
  }
}

function unequalBuckets(digests: readonly Readonly<Record<string, string>>[]): readonly string[] {
  const names = new Set(digests.flatMap((buckets) => Object.keys(buckets)))
  return [...names].flatMap((name) => {
    const forms = new Set(digests.map((buckets) => buckets[name] ?? '')).size
    return forms === 1 ? [] : [`${name}: ${forms}`]
  })
}

/** Counts keys that lack the value of the last write, or came back after a delete, on any node. */
async function countWrong(nodes: SoakNodes, writer: SoakWriter): Promise<number> {
  const wrong = new Set<string>()
  for (const { process } of nodes.running()) {
    const held = (await process.client.getBucket({ bucket: 'notes' })) as Readonly<Record<string, unknown>>
    for (const [key, value] of writer.expected()) if (held[key] !== value) wrong.add(key)
  }
  return wrong.size
}

function brokenOf({
  writes,
  wrong,
  ledgers,
  unequal,
  grownMb,
}: Omit<SoakResult, 'broke'>): string | undefined {
  if (writes === 0) return 'nothing was written'
  if (wrong > 0) return `${wrong} keys have not the value of their last write everywhere`
  if (ledgers > 1) return `there are ${ledgers} different ledgers; forms by bucket: ${unequal.join(', ')}`
  if (grownMb > MAX_GROWTH_MB) return `a node grew by ${grownMb} MB after the warm-up`
  return undefined
}
