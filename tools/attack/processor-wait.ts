/**
 * How long threads were ready to run and had to wait for a processor: what a busy machine adds to a time, and what no
 * attack did. Linux tells it for each thread (`/proc/PID/task/TID/schedstat`, the second number, in ns).
 */
import { readdirSync, readFileSync } from 'node:fs'

/** The wait of a process's main thread since its start, in ms; 0 where the system does not tell it. */
export function waitOfProcess(pid: number): number {
  return waitIn(`/proc/${pid}/task/${pid}/schedstat`)
}

/** The wait of the thread that asks since its start, in ms; 0 where the system does not tell it. */
export function waitOfThread(): number {
  return waitIn('/proc/thread-self/schedstat')
}

/** The wait of each of a process's other threads, in ms, by thread: its main thread waits for them as it collects garbage. */
export function waitsOfHelpers(pid: number): ReadonlyMap<string, number> {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).filter((thread) => thread !== String(pid))
    return new Map(threads.map((thread) => [thread, waitIn(`/proc/${pid}/task/${thread}/schedstat`)]))
  } catch {
    return new Map()
  }
}

/** The processor time of a process's main thread since its start, in ms; 0 where the system does not tell it. */
export function workOfProcess(pid: number): number {
  return fieldOf(`/proc/${pid}/task/${pid}/schedstat`, 0)
}

function waitIn(path: string): number {
  return fieldOf(path, 1)
}

function fieldOf(path: string, at: number): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[at] ?? 0) / 1e6
  } catch {
    return 0
  }
}
