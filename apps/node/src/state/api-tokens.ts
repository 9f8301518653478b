/** The file of the API's tokens: read again when it changes, so that a token ends while the node runs, and rewritten whole. */
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  realpathSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import {
  type ApiToken,
  type HealthProblem,
  isTokenText,
  parseTokenList,
  TOKEN_LEVELS,
  type TokenList,
  type TokensPort,
} from '@mesh/api-server'
import { type Clock, type Logger, MeshError, toError } from '@mesh/core'
import { shellWord } from '../words/shell-word.ts'
import { currentUser, foreignLinkOwner, isForeign } from '../files/file-owners.ts'
import { type NamedFile, readNamedFile } from '../files/read-named-file.ts'

/** How often the file is looked at, at most, in ms. */
const LOOK_INTERVAL_MS = 250
const MAX_FILE_BYTES = 256 * 1024
const OTHERS_READ = 0o044
const OTHERS_WRITE = 0o022

export interface ApiTokens extends TokensPort {
  /** Says what is wrong with the file, for people. */
  problems(): readonly HealthProblem[]
}

/**
 * Reads the file, and again when it has changed. Lines that are wrong let nobody in, and neither does a file that is gone
 * or can be changed by others: that is a problem to tell of.
 * @throws MeshError `node.bad_token_file` when it cannot be used at the start
 */
export function openApiTokens(file: string, { clock, log }: { clock: Clock; log: Logger }): ApiTokens {
  const opened = new WatchedTokens(file, clock, log)
  opened.open()
  return opened
}

class WatchedTokens implements ApiTokens {
  readonly #file: string
  readonly #clock: Clock
  readonly #log: Logger
  #list: TokenList = { tokens: [], issues: [] }
  #failure: Error | undefined
  #stamp = ''
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(file: string, clock: Clock, log: Logger) {
    this.#file = file
    this.#clock = clock
    this.#log = log
  }

  open(): void {
    this.#list = readTokenFile(this.#file)
    this.#stamp = stampOf(this.#file)
    const [issue] = this.#list.issues
    if (issue !== undefined) throw badLine(this.#file, issue)
    const exposed = describeReadable(this.#file, this.#list)
    if (exposed !== undefined) this.#log.warn(exposed)
    if (this.#list.tokens.length === 0) {
      this.#log.warn('the file of tokens is empty: nobody may use the API, but on the control socket', {
        file: this.#file,
      })
    }
  }

  current(): readonly ApiToken[] {
    const now = this.#clock.monotonic()
    if (now - this.#lookedAt >= LOOK_INTERVAL_MS) {
      this.#lookedAt = now
      this.#look()
    }
    return this.#list.tokens
  }

  problems(): readonly HealthProblem[] {
    this.current()
    const [issue] = this.#list.issues
    const reason =
      this.#failure?.message ?? (issue === undefined ? undefined : badLine(this.#file, issue).message)
    if (reason === undefined) return []
    return [
      {
        code: 'api.bad_token_file',
        severity: 'error',
        title: `Not all tokens of the API count: ${reason}`,
        hint: 'Mend the file; it is read again by itself. The control socket asks for no token.',
      },
    ]
  }

  #look(): void {
    const stamp = stampOf(this.#file)
    if (stamp === this.#stamp) return
    try {
      this.#list = readTokenFile(this.#file)
      this.#stamp = stamp
      this.#failure = undefined
      this.#log.info('the tokens of the API were read again', { tokens: this.#list.tokens.length })
    } catch (error) {
      const { message } = toError(error)
      const isTold = this.#failure?.message === message
      this.#list = { tokens: [], issues: [] }
      this.#failure = toError(error)
      // what keeps it from being read may pass without the file changing: no descriptor left, a folder that is locked
      this.#stamp = ''
      if (isTold) return
      this.#log.warn('the tokens of the API cannot be read: nobody is let in', { reason: message })
    }
  }
}

/** Changes whenever the file does, and when it can be looked at no more. */
function stampOf(file: string): string {
  try {
    const stat = statSync(file, { bigint: true })
    return [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs, stat.mode, stat.uid].join(' ')
  } catch {
    return 'gone'
  }
}

/** @throws MeshError `node.bad_token_file` */
export function readTokenFile(file: string): TokenList {
  return parseTokenList(readTokenText(file))
}

/** @throws MeshError `node.bad_token_file` */
function readTokenText(file: string): string {
  const stranger = foreignLinkOwner(file)
  if (stranger !== undefined) {
    throw badFile(
      `${file} is a symbolic link of another user (uid ${stranger})`,
      'Name the file that it leads to.',
    )
  }
  let read: NamedFile
  try {
    read = readNamedFile(file, MAX_FILE_BYTES)
  } catch (cause) {
    throw badFile(`cannot read ${file}: ${toError(cause).message}`, 'Make one with `mesh api-token create`.')
  }
  const { stat, text } = read
  const user = currentUser()
  const isChangeable = (stat.mode & OTHERS_WRITE) !== 0 || (user !== undefined && isForeign(stat, user))
  if (stat.isFile() && user !== undefined && isChangeable) {
    throw badFile(
      `other users of this machine may write ${file}, and give themselves any token`,
      `chown ${user.uid} ${shellWord(file)} && chmod 600 ${shellWord(file)}`,
    )
  }
  return text
}

/**
 * Gives the token that a command sends: the file's, where nothing else stands in it, or the strongest in plain text of a
 * node's file.
 * @throws MeshError `node.bad_token_file`
 */
export function readTokenToSend(file: string): string {
  const text = readTokenText(file)
  if (isTokenText(text.trim())) return text.trim()
  const plain = parseTokenList(text).tokens.filter((token) => token.plain !== undefined)
  const strength = ({ level }: ApiToken) => TOKEN_LEVELS.indexOf(level)
  const strongest = plain.toSorted((a, b) => strength(b) - strength(a))[0]?.plain
  if (strongest !== undefined) return strongest
  throw badFile(
    `${file} holds no token that could be sent`,
    'Give a file with nothing but the token that `mesh api-token create` printed; a node keeps hashes only.',
  )
}

/** Tokens that stand there in plain text are for their owner's eyes. */
function describeReadable(file: string, { tokens }: TokenList): string | undefined {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
  if (currentUser() === undefined || (mode & OTHERS_READ) === 0) return undefined
  if (tokens.every(({ plain }) => plain === undefined)) return undefined
  return `other users of this machine may read the tokens in ${file}: chmod 600 ${shellWord(file)}`
}

function badLine(file: string, { field, expected }: TokenList['issues'][number]): MeshError {
  return badFile(`${file}, ${field}: expected ${expected}`)
}

function badFile(message: string, hint?: string): MeshError {
  return new MeshError('node.bad_token_file', message, hint === undefined ? {} : { hint })
}

/**
 * Puts another text in place of the file's, whole or not at all; a new file is its owner's alone.
 * @param change gets the lines, and gives those that shall stand there
 * @throws MeshError `node.bad_token_file`
 */
export function changeTokenFile(
  named: string,
  change: (lines: readonly string[]) => readonly string[],
): void {
  const known = statSync(named, { throwIfNoEntry: false })
  // a link stays one
  const file = known === undefined ? named : realpathSync(named)
  const lines = known === undefined ? [] : readTokenText(named).replace(/\n$/, '').split('\n')
  const text = change(lines.length === 1 && lines[0] === '' ? [] : lines).map((line) => `${line}\n`)
  const draft = `${file}.${process.pid}`
  try {
    const descriptor = openSync(draft, 'wx', 0o600)
    try {
      writeSync(descriptor, text.join(''))
      // who may read it, a service's user perhaps, goes on to
      if (known !== undefined) fchmodSync(descriptor, known.mode & 0o777)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(draft, file)
  } catch (cause) {
    rmSync(draft, { force: true })
    throw badFile(`cannot write ${file}: ${toError(cause).message}`)
  }
}
