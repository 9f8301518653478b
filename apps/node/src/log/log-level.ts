/** Which lines are written: one level for all, and others for single subsystems. */
import { findNearest } from '@mesh/core'
import { SUBSYSTEMS } from './subsystems.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

const RANK = { debug: 0, info: 1, warn: 2, error: 3, off: 4 } as const

/** The words of `--log-level`, the most talkative first. */
export const LOG_LEVELS: readonly string[] = Object.keys(RANK)

/** Levels that can be changed while the log is written. */
export interface LogLevels {
  /** The form of `--log-level`. */
  readonly text: string
  /** A subsystem's level holds for those below it too: `p2p` for `p2p/topic`. */
  allows(level: LogLevel, subsystem: string): boolean
  levelOf(subsystem: string): LogLevelName
  /** Puts others in place of all that was in force; the text was checked before. */
  set(text: string): void
}

type LogLevelName = keyof typeof RANK

/** @param text `info`, or `info,p2p=debug`; checked by the option `--log-level` */
export function createLogLevels(text: string): LogLevels {
  return new ChangeableLevels(text)
}

class ChangeableLevels implements LogLevels {
  #text = ''
  #common: LogLevelName = 'info'
  readonly #single = new Map<string, LogLevelName>()

  constructor(text: string) {
    this.set(text)
  }

  get text(): string {
    return this.#text
  }

  allows(level: LogLevel, subsystem: string): boolean {
    return RANK[level] >= RANK[this.levelOf(subsystem)]
  }

  levelOf(subsystem: string): LogLevelName {
    for (let name = subsystem; this.#single.size > 0 && name !== ''; name = parentOf(name)) {
      const own = this.#single.get(name)
      if (own !== undefined) return own
    }
    return this.#common
  }

  set(text: string): void {
    this.#text = text
    this.#common = 'info'
    this.#single.clear()
    for (const part of text.split(',')) {
      const [name = '', level] = part.trim().split('=')
      if (level === undefined) this.#common = nameOf(name)
      else this.#single.set(name, nameOf(level))
    }
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

function nameOf(level: string): LogLevelName {
  return Object.hasOwn(RANK, level) ? (level as LogLevelName) : 'info'
}

function parentOf(subsystem: string): string {
  return subsystem.slice(0, Math.max(0, subsystem.lastIndexOf('/')))
}
