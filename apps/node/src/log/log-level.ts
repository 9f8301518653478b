/** Which lines are written: one level for all, and others for single subsystems. */
import { findNearest } from '../settings/nearest.ts'
import { SUBSYSTEMS } from './subsystems.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

const RANK = { debug: 0, info: 1, warn: 2, error: 3, off: 4 } as const

/** The words of `--log-level`, the most talkative first. */
export const LOG_LEVELS: readonly string[] = Object.keys(RANK)

export interface LogLevels {
  /** A subsystem's level holds for those below it too: `p2p` for `p2p/topic`. */
  allows(level: LogLevel, subsystem: string): boolean
}

/** @param text `info`, or `info,p2p=debug`; checked by the option `--log-level` */
export function parseLogLevels(text: string): LogLevels {
  const single = new Map<string, number>()
  let common: number = RANK.info
  for (const part of text.split(',')) {
    const [name = '', level] = part.trim().split('=')
    if (level === undefined) common = rankOf(name)
    else single.set(name, rankOf(level))
  }
  return {
    allows(level, subsystem) {
      for (let name = subsystem; single.size > 0 && name !== ''; name = parentOf(name)) {
        const own = single.get(name)
        if (own !== undefined) return RANK[level] >= own
      }
      return RANK[level] >= common
    },
  }
}

/** Says what `--log-level` expects in place of the text, or undefined when the text is right. */
export function refuseLogLevels(text: string): string | undefined {
  for (const part of text.split(',')) {
    const [name = '', level, more] = part.trim().split('=')
    if (more !== undefined || !LOG_LEVELS.includes(level ?? name)) return LEVELS_EXPECTED
    if (level === undefined || SUBSYSTEMS.includes(name)) continue
    const nearest = findNearest(name, SUBSYSTEMS)
    const meant = nearest === undefined ? '' : ` (did you mean ${nearest}?)`
    return `one of the subsystems ${SUBSYSTEMS.join(', ')} in place of ${JSON.stringify(name)}${meant}`
  }
  return undefined
}

const LEVELS_EXPECTED = 'debug, info, warn, error or off, or for single subsystems as in info,p2p=debug'

function rankOf(level: string): number {
  return RANK[level as keyof typeof RANK] ?? RANK.info
}

function parentOf(subsystem: string): string {
  return subsystem.slice(0, Math.max(0, subsystem.lastIndexOf('/')))
}
