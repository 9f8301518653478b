/** The definition of one option, and the builders that the table of options is written with. */
import { isAbsolute, resolve } from 'node:path'
import { tryParseDuration } from '@mesh/core'

/** Headings of `--help` and of docs/flags.md, in the order in which they are shown. */
export type OptionGroup =
  | 'Network'
  | 'State'
  | 'VPN'
  | 'Services'
  | 'API'
  | 'DNS'
  | 'Finding peers'
  | 'Transports and addresses'
  | 'Relays and NAT'
  | 'Ledger'
  | 'Trust'
  | 'Limits'
  | 'Asking a node'
  | 'Output'

/** A value, or the form that would have been right. */
export type Parsed<Value> = { readonly value: Value } | { readonly expected: string }

interface OptionInit {
  /** Names of the commands that take it, as in `mesh NAME`; those of its group unless given. */
  readonly commands?: readonly string[]
  /** One sentence or two, without the default. */
  readonly help: string
  /** One letter: `g` for `-g`. */
  readonly short?: string
  /** Masked wherever settings are shown. */
  readonly secret?: true
  /** The words that the value is put together from, with commas; for completion. */
  readonly parts?: readonly string[]
  /** Bounds what others can cost; docs/limits.md lists these. */
  readonly isLimit?: true
  /** False: on the command line only. */
  readonly environment?: false
}

/** An option that is not in a group yet. */
interface Ungrouped<Value> extends OptionInit {
  /** The word that stands for the value in help (`FILE`); undefined for a switch. */
  readonly placeholder: string | undefined
  readonly default: Value
  /** The default in words for people. */
  readonly defaultText: string
  /** May be given several times, or with commas. */
  readonly repeated: boolean
  /** The words that are allowed, when they are few; for completion. */
  readonly choices: readonly string[]
  /** @param base folder that relative paths count from */
  parse(texts: readonly string[], base: string): Parsed<Value>
}

export interface Option<Value> extends Ungrouped<Value> {
  readonly group: OptionGroup
  readonly commands: readonly string[]
}

/** Puts options under one heading; most of them belong to the same commands. */
export function inGroup<Options extends Readonly<Record<string, Ungrouped<unknown>>>>(
  group: OptionGroup,
  commands: readonly string[],
  options: Options,
): { readonly [Name in keyof Options]: Option<Options[Name]['default']> } {
  const grouped = Object.entries(options).map(([name, option]) => [name, { group, commands, ...option }])
  // the entries are the options by their own names, each with a heading
  return Object.fromEntries(grouped)
}

interface Defaulted<Value> {
  readonly default: Value
  readonly defaultText?: string
}

/** A switch: `--name`, `--name=false`, `--no-name`. */
export function toggle(init: OptionInit & Defaulted<boolean>): Ungrouped<boolean> {
  return {
    ...init,
    placeholder: undefined,
    defaultText: init.defaultText ?? (init.default ? 'on' : 'off'),
    repeated: false,
    choices: ['true', 'false'],
    parse(texts) {
      const text = (texts.at(-1) ?? 'true').toLowerCase()
      if (['true', '1', 'on', 'yes'].includes(text)) return { value: true }
      if (['false', '0', 'off', 'no'].includes(text)) return { value: false }
      return { expected: 'true or false' }
    },
  }
}

interface TextInit extends OptionInit {
  readonly placeholder: string
  readonly defaultText?: string
  /** Answers what would have been right, or undefined. */
  readonly check?: (text: string) => string | undefined
}

export function text(init: TextInit & { readonly default: string }): Ungrouped<string>
export function text(init: TextInit): Ungrouped<string | undefined>
export function text(init: TextInit & { readonly default?: string }): Ungrouped<string | undefined> {
  return {
    ...init,
    default: init.default,
    defaultText: init.defaultText ?? init.default ?? '',
    repeated: false,
    choices: [],
    parse(texts) {
      const value = texts.at(-1) ?? ''
      if (value === '') return { expected: `a value (${init.placeholder})` }
      const expected = init.check?.(value)
      return expected === undefined ? { value } : { expected }
    },
  }
}

/** A path; a relative one counts from where the person stands. */
export function path(
  init: OptionInit & { readonly placeholder: string; readonly defaultText?: string },
): Ungrouped<string | undefined> {
  return {
    ...init,
    default: undefined,
    defaultText: init.defaultText ?? '',
    repeated: false,
    choices: [],
    parse(texts, base) {
      const value = texts.at(-1) ?? ''
      if (value === '') return { expected: 'a path' }
      return { value: isAbsolute(value) ? value : resolve(base, value) }
    },
  }
}

export function choice<const Word extends string>(
  init: OptionInit & { readonly choices: readonly Word[]; readonly default: Word },
): Ungrouped<Word> {
  return {
    ...init,
    placeholder: init.choices.join('|'),
    defaultText: init.default,
    repeated: false,
    parse(texts) {
      const value = init.choices.find((word) => word === texts.at(-1))
      return value === undefined ? { expected: `one of ${init.choices.join(', ')}` } : { value }
    },
  }
}

interface WholeInit<Value extends number | bigint> extends OptionInit, Defaulted<Value> {
  readonly placeholder: string
  readonly min: Value
  readonly max: Value
}

export function integer(init: WholeInit<number>): Ungrouped<number> {
  return whole(init, (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : undefined))
}

/** A whole number that may be above 2^53. */
export function bigInteger(init: WholeInit<bigint>): Ungrouped<bigint> {
  return whole(init, (text) => (/^\d{1,19}$/.test(text) ? BigInt(text) : undefined))
}

function whole<Value extends number | bigint>(
  init: WholeInit<Value>,
  read: (text: string) => Value | undefined,
): Ungrouped<Value> {
  return {
    ...init,
    defaultText: init.defaultText ?? String(init.default),
    repeated: false,
    choices: [],
    parse(texts) {
      const value = read(texts.at(-1) ?? '')
      if (value !== undefined && value >= init.min && value <= init.max) return { value }
      return { expected: `a whole number from ${init.min} to ${init.max}` }
    },
  }
}

/** Bytes, written `64MiB`, `1GiB`, `500kB` or as a number. */
export function size(
  init: OptionInit & { readonly default: number; readonly min: number; readonly max: number },
): Ungrouped<number> {
  return {
    ...init,
    placeholder: 'SIZE',
    defaultText: formatSize(init.default),
    repeated: false,
    choices: [],
    parse(texts) {
      const [, amount, unit = ''] = /^(\d{1,15})(B|kB|MB|GB|KiB|MiB|GiB)?$/.exec(texts.at(-1) ?? '') ?? []
      const value = Number(amount) * (SIZES.get(unit) ?? 1)
      if (value >= init.min && value <= init.max) return { value }
      return { expected: `a size like 256MiB, from ${formatSize(init.min)} to ${formatSize(init.max)}` }
    },
  }
}

const SIZES: ReadonlyMap<string, number> = new Map([
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
])

/** The shortest exact form: `64MiB`. */
export function formatSize(bytes: number): string {
  for (const [unit, unitBytes] of SIZES) {
    if (bytes > 0 && bytes % unitBytes === 0) return `${bytes / unitBytes}${unit}`
  }
  return `${bytes}B`
}

/** Milliseconds, written `30s`, `5m`; a bare number is seconds. `default`, `minMs` and `maxMs` in milliseconds. */
export function duration(
  init: OptionInit & {
    readonly default: string
    readonly defaultText?: string
    readonly minMs: number
    readonly maxMs: number
  },
): Ungrouped<number> {
  return {
    ...init,
    placeholder: 'DURATION',
    default: tryParseDuration(init.default) ?? Number.NaN,
    defaultText: init.defaultText ?? init.default,
    repeated: false,
    choices: [],
    parse(texts) {
      const text = texts.at(-1) ?? ''
      const value = tryParseDuration(/^\d+$/.test(text) ? `${text}s` : text)
      if (value !== undefined && value >= init.minMs && value <= init.maxMs) return { value }
      return {
        expected: `a duration like 30s or 5m, from ${formatDuration(init.minMs)} to ${formatDuration(init.maxMs)}`,
      }
    },
  }
}

/**
 * Several texts: the option repeated, or one text with commas. `check` judges each. What fits `joins` belongs to the text
 * before it, with its comma.
 */
export function list(init: TextInit & { readonly joins?: RegExp }): Ungrouped<readonly string[]> {
  const { joins } = init
  return {
    ...init,
    default: [],
    defaultText: init.defaultText ?? '',
    repeated: true,
    choices: [],
    parse(texts) {
      const parts = texts
        .flatMap((text) => text.split(','))
        .map((text) => text.trim())
        .filter((text) => text !== '')
      const value: string[] = []
      for (const part of parts) {
        const joined = joins?.test(part) === true ? value.pop() : undefined
        value.push(joined === undefined ? part : `${joined},${part}`)
      }
      for (const each of value) {
        const expected = init.check?.(each)
        if (expected !== undefined) return { expected }
      }
      return { value }
    },
  }
}

/** The shortest exact form: `90s`, `5m`, `1h`, `500ms`. */
export function formatDuration(ms: number): string {
  for (const [unit, size] of [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const) {
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`
  }
  return `${ms}ms`
}
