/** What processes cost, by what the kernel says of them in /proc (proc_pid_stat(5)). */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Ticks of /proc/PID/stat a second. */
const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** User and system seconds of processes, with all their threads. */
export function cpuSeconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + secondsIn(`/proc/${pid}/stat`), 0)
}

/** User and system seconds of a process's first thread, which runs its JavaScript. */
export function mainThreadSeconds(pid: number): number {
  return secondsIn(`/proc/${pid}/task/${pid}/stat`)
}

/** Resident memory of a process, in MB. */
export function residentMB(pid: number): number {
  const kB = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kB) / 1000
}

function secondsIn(file: string): number {
  const text = readFileSync(file, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS
}
