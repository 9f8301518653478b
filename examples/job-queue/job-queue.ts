/**
 * Jobs in the ledger: any member submits them, one worker takes each. At least once: see README.md.
 *
 * 1. A worker writes into a job that it takes it.
 * 2. It waits until a claim of another worker would have arrived: the newest write wins on all machines.
 * 3. If the job is still its own, it works, renews its claim meanwhile, and writes the result.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Mesh } from '@mesh/node'

interface Job {
  readonly state: 'waiting' | 'taken' | 'done'
  readonly work: string
  /** The worker's peer id, of a job that is taken or done. */
  readonly by?: string | undefined
  /** Goes up while the worker lives. */
  readonly beat?: number | undefined
  readonly result?: string | undefined
}

const BUCKET = 'jobs'
/** The time in which a claim of another worker arrives, in ms. */
const SETTLE_MS = 500
/** How often a worker renews its claim, in ms. */
const BEAT_MS = 1_000
/** A job whose claim was not renewed for so long is taken by another worker, in ms. */
const LOST_AFTER_MS = 6_000

/** Writes a job, and resolves with its result. */
export async function submit(mesh: Mesh, work: string, signal: AbortSignal): Promise<string> {
  const id = randomUUID()
  const changes = mesh.watch(BUCKET, { signal })
  await mesh.ledger.put(BUCKET, id, { state: 'waiting', work })
  for await (const { key, value } of changes) {
    const job = key === id ? parseJob(value) : undefined
    if (job?.state !== 'done') continue
    await mesh.ledger.delete(BUCKET, id)
    return job.result ?? ''
  }
  throw new Error('the node was closed')
}

/** Takes jobs one after the other until the signal aborts. */
export async function work(
  mesh: Mesh,
  run: (work: string) => Promise<string>,
  signal: AbortSignal,
): Promise<void> {
  const changedAt = new Map<string, number>()
  void follow(mesh, changedAt, signal)
  while (!signal.aborted) {
    const found = findFree(mesh, changedAt)
    if (found === undefined || !(await claim(mesh, found, signal))) {
      await delay(SETTLE_MS * Math.random(), undefined, { signal }).catch(() => {})
      continue
    }
    const { id, job } = found
    const renewing = setInterval(() => void write(mesh, id, { ...job, beat: Date.now() }), BEAT_MS)
    try {
      const result = await run(job.work)
      await mesh.ledger.put(BUCKET, id, { state: 'done', work: job.work, by: mesh.id, result })
    } finally {
      clearInterval(renewing)
    }
  }
}

interface Found {
  readonly id: string
  readonly job: Job
}

/** Notes when each job changed last, by the clock of this process: clocks of machines differ. */
async function follow(mesh: Mesh, changedAt: Map<string, number>, signal: AbortSignal): Promise<void> {
  try {
    for await (const { key, isDeleted } of mesh.watch(BUCKET, { existing: true, signal })) {
      if (isDeleted) changedAt.delete(key)
      else changedAt.set(key, performance.now())
    }
  } catch {
    // the signal ended it
  }
}

function findFree(mesh: Mesh, changedAt: ReadonlyMap<string, number>): Found | undefined {
  for (const { key: id, value } of mesh.ledger.list(BUCKET)) {
    const job = parseJob(value)
    const isLost = performance.now() - (changedAt.get(id) ?? performance.now()) > LOST_AFTER_MS
    if (job?.state === 'waiting' || (job?.state === 'taken' && isLost)) return { id, job }
  }
  return undefined
}

async function claim(mesh: Mesh, { id, job }: Found, signal: AbortSignal): Promise<boolean> {
  await write(mesh, id, job)
  await delay(SETTLE_MS, undefined, { signal }).catch(() => {})
  const now = parseJob(mesh.ledger.get(BUCKET, id))
  return !signal.aborted && now?.state === 'taken' && now.by === mesh.id
}

async function write(mesh: Mesh, id: string, { work, beat }: Job): Promise<void> {
  await mesh.ledger.put(BUCKET, id, { state: 'taken', work, by: mesh.id, beat }).catch(() => {})
}

/** Undefined for what is no job: every member may write into the bucket. */
function parseJob(value: unknown): Job | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { state, work, by, result } = value as Record<string, unknown>
  if (state !== 'waiting' && state !== 'taken' && state !== 'done') return undefined
  if (typeof work !== 'string') return undefined
  return { state, work, by: textOf(by), result: textOf(result) }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)
