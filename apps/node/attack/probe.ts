/**
 * Watches a victim from a thread of its own, so that what the attack costs this process does not count against the
 * victim: how long its health takes to answer, how much memory it has, and whether an honest member's writes arrive.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
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
const GIVE_UP_MS = 30_000
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
  const startKb = residentKb(init.pid)
  const worst = { healthMs: 0, residentKb: startKb }
  const health = (async () => {
    while (!isOver) {
      worst.healthMs = Math.max(worst.healthMs, await timeOf('GET', init.healthUrl))
      worst.residentKb = Math.max(worst.residentKb, residentKb(init.pid))
      await pause(HEALTH_EVERY_MS)
    }
  })()
  const written =
    init.honestUrl === undefined ? [] : await writeUntil(() => isOver, init.honestUrl, init.victimUrl)
  await health
  return {
    healthMs: worst.healthMs,
    grownMb: (worst.residentKb - startKb) / 1024,
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

async function timeOf(method: string, url: string): Promise<number> {
  const began = performance.now()
  const { status } = await send(method, url)
  return status === 0 ? Number.POSITIVE_INFINITY : performance.now() - began
}

const agent = new Agent({ keepAlive: true, maxSockets: 32 })

/** Status 0 when there was no answer. */
function send(method: string, url: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve) => {
    const failed = () => resolve({ status: 0, text: '' })
    const asked = request(url, { method, agent, timeout: GIVE_UP_MS }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.once('error', failed)
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', failed)
    asked.end()
  })
}

/** Resident memory of a process, in KiB; 0 when it is gone. */
function residentKb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

if (!isMainThread) parentPort?.postMessage(await watch(workerData as ProbeInit))
