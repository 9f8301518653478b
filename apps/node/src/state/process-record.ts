/**
 * Which process wrote a file of the state folder, and whether it still runs. The system gives the numbers of processes
 * again, to programs that have nothing to do with a node, so that a record says when the process began as well.
 */
import { readFileSync } from 'node:fs'
import * as z from 'zod'

/** The fields of a process in a file. */
export const processFields = {
  pid: z.int().positive(),
  /** Clock ticks from the machine's start to that of the process; none where the system does not tell. */
  began: z.string().optional(),
} as const

type ProcessRecord = Readonly<z.infer<z.ZodObject<typeof processFields>>>

export function thisProcess(): ProcessRecord {
  const began = statOf(process.pid)?.began
  return { pid: process.pid, ...(began !== undefined && { began }) }
}

/** Says whether the process of a record runs, other than this one. One that has ended and waits for its parent does not. */
export function isRunning({ pid, began }: ProcessRecord): boolean {
  if (pid === process.pid) return false
  const stat = statOf(pid)
  if (stat !== undefined) return !ENDED.has(stat.state) && (began === undefined || began === stat.began)
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** The same processes as lines: the number, and behind a space when it began, where the system tells it. */
export function processLines(): { readonly self: string; isRunning(line: string): boolean } {
  const { pid, began } = thisProcess()
  return { self: began === undefined ? `${pid}` : `${pid} ${began}`, isRunning: isLineOfRunning }
}

function isLineOfRunning(line: string): boolean {
  const [pid, began] = line.split(' ')
  const record = z.object(processFields).safeParse({ pid: Number(pid), began })
  return record.success && isRunning(record.data)
}

/** The states of a process that has ended, as proc(5) has them: zombie and dead. */
const ENDED: ReadonlySet<string> = new Set(['Z', 'X', 'x'])

/** Undefined where the system does not tell, or there is no such process. */
function statOf(pid: number): { readonly state: string; readonly began: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // the command's name stands in parentheses and may hold spaces; the fields behind it begin with the third
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', began: fields[STARTTIME_FIELD - 3] ?? '' }
  } catch {
    return undefined
  }
}

/** Number of the field in `/proc/PID/stat`, as proc(5) counts them. */
const STARTTIME_FIELD = 22
