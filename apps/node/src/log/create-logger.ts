/**
 * Log lines on standard error: for people on a terminal, JSON elsewhere. Written here in place of a library
 * since a library's import costs a tenth of the time until the API answers.
 */
import { type Clock, type LogFields, type Logger, MeshError, printable, stringifyExactJson } from '@mesh/core'
import { humanSentence, humanValue } from './human-lines.ts'
import { createLogLevels, type LogLevel, type LogLevels } from './log-level.ts'
import type { LogTail } from './log-tail.ts'
import { printableJson } from '../words/printable.ts'

export interface LoggerInit {
  readonly format: 'human' | 'json'
  /** The levels: `info`, or `info,p2p=debug`, or ones that change. */
  readonly levels: string | LogLevels
  readonly color: boolean
  /** Stack traces with errors. */
  readonly debug: boolean
}

export interface LoggerComponents {
  readonly clock: Clock
  /** Takes whole lines, newline included. */
  write(line: string): void
  /** Keeps the last lines. */
  readonly tail?: Pick<LogTail, 'note'>
}

/** One line before it is formatted. */
interface Line {
  readonly time: number
  readonly level: LogLevel
  readonly subsystem: string
  readonly message: string
  readonly fields: LogFields
}

/** Longest text of one field; what remote members send ends up here too. */
const MAX_FIELD_CHARACTERS = 2_000
const COLORS = { debug: 90, info: 36, warn: 33, error: 31 } as const

export function createLogger(init: LoggerInit, components: LoggerComponents): Logger {
  const levels = typeof init.levels === 'string' ? createLogLevels(init.levels) : init.levels
  const format = init.format === 'json' ? formatJson : formatHuman
  const create = (subsystem: string): Logger => {
    const log =
      (level: LogLevel) =>
      (message: string, fields: LogFields = {}) => {
        if (!levels.allows(level, subsystem)) return
        const time = components.clock.now()
        const line = { time, level, subsystem, message, fields }
        components.write(format(line, init))
        components.tail?.note({ time, level, subsystem, text: humanParts(line, init, plain).join(' ') })
      }
    return {
      debug: log('debug'),
      info: log('info'),
      warn: log('warn'),
      error: log('error'),
      child: (name) => create(subsystem === '' ? name : `${subsystem}/${name}`),
    }
  }
  return create('')
}

function formatJson({ time, level, subsystem, message, fields }: Line, init: LoggerInit): string {
  const head = {
    time: new Date(time).toISOString(),
    level,
    ...(subsystem === '' ? {} : { subsystem }),
    message,
  }
  const plain: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) plain[name in head ? `${name}_` : name] = plainValue(value, init.debug)
  }
  return printableJson({ ...head, ...plain })
}

function formatHuman(line: Line, init: LoggerInit): string {
  const paint = init.color ? colored : plain
  const clock = new Date(line.time).toTimeString().slice(0, 8)
  const parts = [paint(90, clock), paint(COLORS[line.level], line.level.padEnd(5))]
  if (line.subsystem !== '') parts.push(paint(90, line.subsystem.padEnd(6)))
  return `${[...parts, ...humanParts(line, init, paint)].join(' ')}\n`
}

type Paint = (color: number, text: string) => string
const plain: Paint = (_, text) => text
const colored: Paint = (color, text) => `\u001B[${color}m${text}\u001B[0m`

/** The message, and the fields unless the message says them. */
function humanParts({ message, fields }: Line, { debug }: LoggerInit, paint: Paint): string[] {
  const sentence = humanSentence(message, fields)
  if (sentence !== undefined) return [printable(sentence)]
  const parts = [printable(message)]
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const text = humanText(humanValue(plainValue(value, debug)))
    const quoted = /^[^\s"=]+$/.test(text) || name === 'stack' ? text : stringifyExactJson(text)
    parts.push(`${paint(90, `${name}=`)}${printable(quoted)}`)
  }
  return parts
}

function humanText(value: unknown): string {
  return typeof value === 'string' ? value : stringifyExactJson(value)
}

/** Gives what JSON can carry, without secrets of errors' internals. */
function plainValue(value: unknown, debug: boolean): unknown {
  if (typeof value === 'string') return shorten(value)
  if (value instanceof Error) return plainError(value, debug)
  if (value instanceof Uint8Array) return `${value.length} bytes`
  if (typeof value === 'object' && value !== null) {
    try {
      const text = stringifyExactJson(value)
      return text.length > MAX_FIELD_CHARACTERS ? shorten(text) : value
    } catch {
      return 'unprintable'
    }
  }
  return typeof value === 'function' || typeof value === 'symbol' ? String(value) : value
}

function plainError(error: Error, debug: boolean): Record<string, unknown> {
  return {
    ...(error instanceof MeshError ? { code: error.code } : { name: error.name }),
    message: shorten(error.message),
    ...(error.cause instanceof Error ? { cause: shorten(error.cause.message) } : {}),
    ...(debug && error.stack !== undefined ? { stack: error.stack } : {}),
  }
}

function shorten(text: string): string {
  return text.length > MAX_FIELD_CHARACTERS ? `${text.slice(0, MAX_FIELD_CHARACTERS)}…` : text
}
