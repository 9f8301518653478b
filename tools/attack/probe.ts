/**
 * Watches a victim from a thread of its own, so that what the attack costs this process does not count against the
 * victim: how long its health takes to answer, how much memory it has, and whether an honest member's writes arrive.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { send, timeHealth } from './health.ts'
import { residentMb } from './resident.ts'
import { pause } from './until-true.ts'

export interface ProbeInit {
  readonly pid: number
  /** Whole URL of the victim's health. */
  readonly healthUrl: string
  /** Base URLs of the victim and of the honest member that writes; without the latter nothing is written. */
  readonly victimUrl: string
  readonly honestUrl?: string
}

export interface ProbeResult {
  /** The longest that health took to answer, in ms; infinite when an answer did not come within 30 s. */
  readonly healthMs: number
  /** The same without the time in which the victim or this thread waited for a processor. */
  readonly ownHealthMs: number
  /** Resident memory at the start, in MB. */
  readonly startMb: number
  /** The greatest resident memory less the one at the start, in MB. */
  readonly grownMb: number
  readonly writes: number
  readonly arrived: number
  /** The longest that a write took to arrive, in ms; 0 when none arrived. */
  readonly writeMs: number
}

export interface Probe {
  /** Ends after the writes that are under way have arrived, or had 15 s for it. */
  finish(): Promise<ProbeResult>
}

const HEALTH_EVERY_MS = 20
const WRITE_EVERY_MS = 1_000
/** How long a write may take to arrive after the attack, in ms. */
const LAST_WRITE_MS = 15_000

export function startProbe(init: ProbeInit): Probe {
  const worker = new Worker(new URL(import.meta.url), { workerData: init, execArgv: process.execArgv })
  const result = new Promise<ProbeResult>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  result.catch(() => {})
  return {
    async finish() {
      worker.postMessage('finish')
      try {
        return await result
      } finally {
        await worker.terminate()
      }
    },
  }
}

async function watch(init: ProbeInit): Promise<ProbeResult> {
  let isOver = false
  parentPort?.once('message', () => (isOver = true))
  const startMb = residentMb(init.pid)
  const worst = { healthMs: 0, ownHealthMs: 0, residentMb: startMb }
  const health = (async () => {
    while (!isOver) {
      const { tookMs, ownMs } = await timeHealth(init.healthUrl, init.pid)
      worst.healthMs = Math.max(worst.healthMs, tookMs)
      worst.ownHealthMs = Math.max(worst.ownHealthMs, ownMs)
      worst.residentMb = Math.max(worst.residentMb, residentMb(init.pid))
      await pause(HEALTH_EVERY_MS)
    }
  })()
  const written =
    init.honestUrl === undefined ? [] : await writeUntil(() => isOver, init.honestUrl, init.victimUrl)
  await health
  return {
    healthMs: worst.healthMs,
    ownHealthMs: worst.ownHealthMs,
    startMb,
    grownMb: worst.residentMb - startMb,
    writes: written.length,
    arrived: written.filter((ms) => ms !== undefined).length,
    writeMs: Math.max(0, ...written.map((ms) => ms ?? 0)),
  }
}

/** Writes once a second; gives for each write how long it took to arrive, undefined for one that did not. */
async function writeUntil(isOver: () => boolean, from: string, to: string): Promise<(number | undefined)[]> {
  const marks: Promise<number | undefined>[] = []
  const run = Math.trunc(performance.timeOrigin)
  while (!isOver()) {
    marks.push(writeAndWait(`${from}/api/ledger/notes/w${run}-${marks.length}/x`, to, isOver))
    await pause(WRITE_EVERY_MS)
  }
  return await Promise.all(marks)
}

async function writeAndWait(
  url: string,
  victimUrl: string,
  isOver: () => boolean,
): Promise<number | undefined> {
  const began = performance.now()
  const path = url.slice(url.indexOf('/api/ledger'), url.lastIndexOf('/'))
  let overSince: number | undefined
  let isWritten = false
  for (;;) {
    isWritten ||= (await send('PUT', url)).status === 200
    if (isWritten) {
      const { status, text } = await send('GET', `${victimUrl}${path}`)
      if (status === 200 && text.includes('x')) return performance.now() - began
    }
    if (isOver()) overSince ??= performance.now()
    if (overSince !== undefined && performance.now() - overSince > LAST_WRITE_MS) return undefined
    await pause(50)
  }
}

if (!isMainThread) parentPort?.postMessage(await watch(workerData as ProbeInit))
