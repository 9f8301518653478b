/** The last lines of the log as people read them, for the API: bounded in number and length. */
import { KEPT_LOG_LINES, type LogLinesView } from '@mesh/api-contract'
import { BoundedRing } from '@mesh/core'
import type { LogLevel } from './log-level.ts'

/** How many characters the kept lines have together. */
const MAX_TAIL_CHARACTERS = 512 * 1024

/** One line without colours. */
export interface TailLine {
  /** The time of the line, in unix ms. */
  readonly time: number
  readonly level: LogLevel
  readonly subsystem: string
  /** The message with its fields. */
  readonly text: string
}

export interface LogTail {
  note(line: TailLine): void
  /** The kept lines after a number; all kept lines when the log has not come to that number. */
  lines(after: number): LogLinesView
}

export function createLogTail(): LogTail {
  const ring = new BoundedRing<TailLine>({
    maxItems: KEPT_LOG_LINES,
    maxSize: MAX_TAIL_CHARACTERS,
    sizeOf: ({ subsystem, text }) => subsystem.length + text.length,
  })
  return {
    note: (line) => ring.push(line),
    lines(after) {
      const begin = after > ring.last ? ring.first : Math.max(after + 1, ring.first)
      return {
        Lines: ring.items
          .slice(begin - ring.first)
          .map((line, at) => ({ Sequence: begin + at, ...lineView(line) })),
        Next: ring.last,
      }
    },
  }
}

function lineView({ time, level, subsystem, text }: TailLine) {
  return { Time: new Date(time).toISOString(), Level: level, Subsystem: subsystem, Text: text }
}
