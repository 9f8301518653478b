/**
 * How long threads were ready to run and had to wait for a processor: what a busy machine adds to a time, and what no
 * attack did. Linux tells it for each thread (`/proc/PID/task/TID/schedstat`, the second number, in ns).
 */
import { readFileSync } from 'node:fs'

/** The wait of a process's main thread since its start, in ms; 0 where the system does not tell it. */
export function waitOfProcess(pid: number): number {
  return waitIn(`/proc/${pid}/task/${pid}/schedstat`)
}

/** The wait of the thread that asks since its start, in ms; 0 where the system does not tell it. */
export function waitOfThread(): number {
  return waitIn('/proc/thread-self/schedstat')
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
