/** Which lines are written: one level for all, and others for single subsystems. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

const RANK = { debug: 0, info: 1, warn: 2, error: 3, off: 4 } as const

export interface LogLevels {
  /** A subsystem's level holds for those below it too: `p2p` for `p2p/room`. */
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

function rankOf(level: string): number {
  return RANK[level as keyof typeof RANK] ?? RANK.info
}

function parentOf(subsystem: string): string {
  return subsystem.slice(0, Math.max(0, subsystem.lastIndexOf('/')))
}
