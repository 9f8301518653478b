/** The log as the API shows and changes it: its last lines, its levels, and the file that keeps levels over a restart. */
import { rmSync } from 'node:fs'
import type { LogPort } from '@mesh/api-server'
import { type Logger, MeshError } from '@mesh/core'
import { readStateText } from '../files/read-state-file.ts'
import { replaceFile } from '../files/replace-file.ts'
import { type LogLevels, refuseLogLevels } from './log-level.ts'
import type { LogTail } from './log-tail.ts'
import { SUBSYSTEMS } from './subsystems.ts'

interface LogPortInit {
  /** The file that keeps the levels; undefined: nothing is kept over a restart. */
  readonly file: string | undefined
  /** The person named levels for this start, which beat those that were kept. */
  readonly isNamed: boolean
}

interface LogPortComponents {
  readonly levels: LogLevels
  readonly tail: LogTail
  readonly log: Logger
}

/** Puts the kept levels in force, unless the person named others. */
export function createLogPort(
  { file, isNamed }: LogPortInit,
  { levels, tail, log }: LogPortComponents,
): LogPort {
  let kept = file === undefined ? undefined : readLevels(file, log)
  if (kept !== undefined && !isNamed) levels.set(kept)
  return {
    level: () => levels.text,
    isKept: () => kept === levels.text,
    lines: tail.lines,
    subsystems: () => new Map(SUBSYSTEMS.map((name) => [name, levels.levelOf(name)])),
    set(level, keep) {
      const expected = refuseLogLevels(level)
      if (expected !== undefined) {
        throw new MeshError('node.bad_log_level', `${JSON.stringify(level)} names no levels`, {
          issues: [{ field: 'Level', value: level, expected }],
        })
      }
      levels.set(level)
      if (keep === undefined) return
      writeLevels(file, keep ? level : undefined)
      kept = keep ? level : undefined
    },
  }
}

/** @param level undefined forgets what was kept. @throws MeshError `node.not_kept` */
function writeLevels(file: string | undefined, level: string | undefined): void {
  try {
    if (file === undefined) throw new Error('the node runs with --ephemeral')
    if (level === undefined) return rmSync(file, { force: true })
    replaceFile(file, `${level}\n`)
  } catch (cause) {
    throw new MeshError('node.not_kept', 'the levels are in force, and are not kept over a restart', {
      cause,
    })
  }
}

const KEEP_AGAIN = 'Remove the file, and name the levels again: mesh log-level LEVELS --persist.'

function readLevels(file: string, log: Logger): string | undefined {
  try {
    const text = readStateText(file).trim()
    if (refuseLogLevels(text) === undefined) return text
    log.warn('kept log levels are wrong', { file, hint: KEEP_AGAIN })
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing) log.warn('kept log levels not read', { file, error, hint: KEEP_AGAIN })
  }
  return undefined
}
