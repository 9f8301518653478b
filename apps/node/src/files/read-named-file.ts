/**
 * Reads files that a person named: regular files alone, so that a pipe to which nobody writes and a device without end are
 * told at once. What the shell hands over as a descriptor (`<(...)`, `/dev/stdin`) may be a pipe or a terminal, too.
 */
import { closeSync, constants, fstatSync, openSync, type Stats, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { resolve } from 'node:path'
import { isatty } from 'node:tty'
import { readBounded } from './read-bounded.ts'

/** The kinds of descriptors that end when whoever hands them over has written all. */
const HANDED_KINDS: readonly string[] = ['pipe', 'socket', 'terminal']

export interface NamedFile {
  readonly text: string
  readonly stat: Stats
}

/**
 * Reads a text of at most so many bytes.
 * @throws Error of the file system, for what is neither a regular file or /dev/null nor a pipe or terminal that the shell
 * handed over, and for what is longer
 */
export function readNamedFile(file: string, maxBytes: number): NamedFile {
  const handed = handedDescriptor(file)
  if (handed !== undefined) return readDescriptor(handed, maxBytes, true)
  // on Windows O_NONBLOCK is undefined, which counts as 0 here
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return readDescriptor(descriptor, maxBytes, false)
  } finally {
    closeSync(descriptor)
  }
}

/** The number of the descriptor that a path such as `/dev/stdin` and `/dev/fd/63` stands for; undefined for other paths. */
export function handedDescriptor(file: string): number | undefined {
  const path = resolve(file)
  if (path === '/dev/stdin') return 0
  const [, number] = /^\/(?:dev|proc\/self)\/fd\/(\d{1,9})$/.exec(path) ?? []
  return number === undefined ? undefined : Number(number)
}

function readDescriptor(descriptor: number, maxBytes: number, isHanded: boolean): NamedFile {
  const stat = fstatSync(descriptor)
  const kind = kindOf(descriptor, stat)
  const isFile = kind === 'regular file'
  const ends = isFile || kind === 'null device' || (isHanded && HANDED_KINDS.includes(kind))
  if (!ends) {
    const instead = isHanded ? '' : '; what a command prints can be handed over as <(COMMAND)'
    throw new Error(`it is a ${kind} and not a regular file${instead}`)
  }
  const bytes = readBounded(descriptor, { maxBytes, fromStart: isFile })
  return { text: bytes.toString('utf8'), stat }
}

function kindOf(descriptor: number, stat: Stats): string {
  if (stat.isFile()) return 'regular file'
  if (stat.isDirectory()) return 'folder'
  if (stat.isFIFO()) return 'pipe'
  if (stat.isSocket()) return 'socket'
  if (isatty(descriptor)) return 'terminal'
  return isNull(stat) ? 'null device' : 'device'
}

function isNull(stat: Stats): boolean {
  return stat.isCharacterDevice() && stat.rdev === statSync(devNull, { throwIfNoEntry: false })?.rdev
}
