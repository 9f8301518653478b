import { Scope } from '@mesh/core/limits'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@mesh/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createConversation } from '../src/files/conversation.ts'
import { DestinationLocks } from '../src/files/destination-lock.ts'
import { decodeFileMessage, encodeFileMessage, type FileMessage } from '../src/files/file-message.ts'
import { NOTHING_LEFT_OUT } from '../src/files/left-out.ts'
import { FILE_BLOCK_BYTES, LISTS } from '../src/files/limits.ts'
import { receiveShare } from '../src/files/receive-session.ts'
import { requireReadable, scanShare } from '../src/files/scan.ts'
import { SendingLoad } from '../src/files/sending-load.ts'
import { sendShare } from '../src/files/send-session.ts'
import { createChannelPair } from '../src/files/testing/channel-pair.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-files-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface TransferOptions {
  readonly source?: string
  readonly destination?: string
  readonly name?: string
  readonly admit?: () => Promise<string | undefined>
  /** What happens between the sender's end and its close. */
  readonly whenSent?: () => Promise<void>
  /** What happens when the receiver is done. */
  readonly whenReceived?: () => void
  /** Why access rules refuse. */
  readonly refusal?: string
  readonly locks?: DestinationLocks
  /** Its requests do not say that it judges names itself. */
  readonly isOldReceiver?: boolean
  /** What becomes of a message from the sender; undefined cuts the connection. */
  readonly onSent?: (message: FileMessage) => FileMessage | undefined
}

/** One try between two ends in memory. */
async function transfer(options: TransferOptions = {}) {
  const { source = join(folder, 'source'), destination = join(folder, 'copy'), name = 'share' } = options
  let movedBytes = 0
  const [sending, receiving] = createChannelPair({
    onMessage(message, from) {
      const decoded = decodeFileMessage(message)
      if (from === 1 && options.isOldReceiver === true && decoded?.type === 'request')
        return encodeFileMessage({ ...decoded, anyNames: false })
      if (from === 1 || options.onSent === undefined || decoded === undefined) return message
      const next = options.onSent(decoded)
      return next === undefined ? undefined : encodeFileMessage(next)
    },
  })
  const { signal } = new AbortController()
  const sent = sendShare({
    conversation: createConversation(sending, { clock: systemClock }),
    signal,
    load: new SendingLoad({ clock: systemClock, receivers: () => 1 }),
    pathOf: (asked) => (asked === 'share' ? source : undefined),
    admit: options.admit ?? (async () => undefined),
    refusal: () => options.refusal,
    onShare: () => {},
    onUnreadable: () => {},
    onBytes: () => {},
  })
    .catch(() => undefined)
    .then(async (told) => {
      await options.whenSent?.()
      await sending.close()
      return told
    })
  const received = receiveShare({
    conversation: createConversation(receiving, { clock: systemClock }),
    name,
    entries: new Uint8Array(0),
    destination,
    locks: options.locks ?? new DestinationLocks(PROCESSES),
    lists: new Scope(LISTS),
    signal,
    onShare: () => {},
    onBytes: (byteCount, isMoved) => {
      if (isMoved) movedBytes += byteCount
    },
  })
  const failures: (Error & { readonly code?: string })[] = []
  const share = await received.catch((failure: unknown) => {
    failures.push(failure as Error)
    return undefined
  })
  options.whenReceived?.()
  const [error] = failures
  if (error !== undefined) sending.abort(error)
  const toldLeftOut = await sent
  return { ...share, error, movedBytes, isAcknowledged: toldLeftOut !== undefined, toldLeftOut }
}

const { signal } = new AbortController()
/** The user that may read only what everybody may. */
const NOBODY = 65_534
/** The name of another process, which runs. */
const RUNNING = '6 1'
const PROCESSES = { self: '7 1', isRunning: (name: string) => name === RUNNING }
const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
const SIZE = 5 * FILE_BLOCK_BYTES + 1_234

/** Cuts the connection once so many data messages were sent. */
function cutAfter(count: number) {
  let seen = 0
  return (message: FileMessage) => (message.type === 'data' && ++seen > count ? undefined : message)
}

describe('a file', () => {
  beforeEach(() => writeFileSync(join(folder, 'source'), randomBytes(SIZE)))

  it.each([0, 1, FILE_BLOCK_BYTES, FILE_BLOCK_BYTES + 1, 40 * FILE_BLOCK_BYTES])(
    'of %d bytes arrives whole, with its time and mode, and leaves nothing else behind',
    async (size) => {
      writeFileSync(join(folder, 'source'), randomBytes(size))
      chmodSync(join(folder, 'source'), 0o755)
      const { path, isAcknowledged, movedBytes } = await transfer()
      expect(path).toBe(join(folder, 'copy'))
      expect(isAcknowledged).toBe(true)
      expect(movedBytes).toBe(size)
      expect(hashOf(join(folder, 'copy'))).toBe(hashOf(join(folder, 'source')))
      const [source, copy] = [lstatSync(join(folder, 'source')), lstatSync(join(folder, 'copy'))]
      expect(Math.floor(copy.mtimeMs)).toBe(Math.floor(source.mtimeMs))
      expect(copy.mode & 0o100).toBe(0o100)
      expect(readdirSync(folder).toSorted()).toEqual(['copy', 'source'])
    },
  )

  it('stands in a folder under its own name when a folder is given', async () => {
    mkdirSync(join(folder, 'inbox'))
    const { path } = await transfer({ destination: join(folder, 'inbox') })
    expect(path).toBe(join(folder, 'inbox', 'source'))
  })

  it('makes the folders above it, also behind a link, and ends where none can be made', async () => {
    mkdirSync(join(folder, 'disk'))
    symlinkSync(join(folder, 'disk'), join(folder, 'inbox'))
    const { path } = await transfer({ destination: join(folder, 'inbox', 'a', 'b', 'file') })
    expect(path).toBe(join(folder, 'inbox', 'a', 'b', 'file'))
    expect(hashOf(join(folder, 'disk', 'a', 'b', 'file'))).toBe(hashOf(join(folder, 'source')))
    const below = await transfer({ destination: join(folder, 'source', 'x', 'y') })
    expect(below.error?.code).toBe('files.destination')
    const nowhere = await transfer({ destination: '/proc/nowhere/else/file' })
    expect(nowhere.error?.code).toBe('files.destination')
  })

  it('is gone on with where it broke off, and has no name before it is whole', async () => {
    const first = await transfer({ onSent: cutAfter(3) })
    expect(first.error?.code).toBe('files.broken_off')
    expect(existsSync(join(folder, 'copy'))).toBe(false)
    const second = await transfer()
    expect(hashOf(join(folder, 'copy'))).toBe(hashOf(join(folder, 'source')))
    expect(first.movedBytes).toBe(3 * FILE_BLOCK_BYTES)
    expect(second.movedBytes).toBeLessThan(SIZE)
  })

  it('comes anew when what is there is not the beginning of it', async () => {
    await transfer({ onSent: cutAfter(4) })
    const part = join(folder, 'copy.mesh-part/tree/source')
    const bytes = readFileSync(part)
    bytes[0] = (bytes[0] ?? 0) ^ 1
    writeFileSync(part, bytes)
    const { movedBytes } = await transfer()
    expect(movedBytes).toBe(SIZE)
    expect(hashOf(join(folder, 'copy'))).toBe(hashOf(join(folder, 'source')))
  })

  it('never gets its name when bytes change on the way, and is given up after three tries', async () => {
    const { error, movedBytes } = await transfer({
      onSent(message) {
        if (message.type !== 'data') return message
        const bytes = Uint8Array.from(message.bytes)
        bytes[0] = (bytes[0] ?? 0) ^ 0xff
        return { type: 'data', bytes }
      },
    })
    expect(error?.code).toBe('files.corrupt')
    expect(movedBytes).toBe(3 * SIZE)
    expect(existsSync(join(folder, 'copy'))).toBe(false)
  })

  it('that changes while it is sent is not taken', async () => {
    const { error } = await transfer({
      onSent(message) {
        if (message.type === 'data') truncateSync(join(folder, 'source'), SIZE - 1)
        return message
      },
    })
    expect(error?.code).toBe('files.changed')
    expect(existsSync(join(folder, 'copy'))).toBe(false)
  })

  it('keeps its holes, also where it is gone on with', async () => {
    const source = join(folder, 'source')
    truncateSync(source, 0)
    truncateSync(source, 64 * 2 ** 20)
    const file = openSync(source, 'r+')
    writeSync(file, 'middle', 32 * 2 ** 20)
    closeSync(file)
    await transfer({ onSent: cutAfter(700) })
    const { error } = await transfer()
    expect(error).toBeUndefined()
    expect(hashOf(join(folder, 'copy'))).toBe(hashOf(source))
    expect(lstatSync(join(folder, 'copy')).blocks * 512).toBeLessThan(2 ** 20)
  })

  it('replaces a file, but never a folder', async () => {
    writeFileSync(join(folder, 'copy'), 'old')
    expect((await transfer()).error).toBeUndefined()
    expect(hashOf(join(folder, 'copy'))).toBe(hashOf(join(folder, 'source')))
    mkdirSync(join(folder, 'copy2', 'source'), { recursive: true })
    const { error } = await transfer({ destination: join(folder, 'copy2') })
    expect(error?.code).toBe('files.destination')
  })

  it('is done once the sender has read so, as the process may end right afterwards', async () => {
    const order: string[] = []
    const whenSent = async () => {
      // a turn of the event loop, in which a receiver that does not wait would be done
      await new Promise((resolve) => setImmediate(resolve))
      order.push('the sender has read it')
    }
    await transfer({ whenSent, whenReceived: () => order.push('received') })
    expect(order).toEqual(['the sender has read it', 'received'])
  })

  it('is refused to whoever is not admitted, asks for another name, or when it is gone, with the reason', async () => {
    const ruled = await transfer({ refusal: 'the rules say no' })
    expect(ruled.error).toMatchObject({
      code: 'files.refused',
      message: 'the sender refused: the rules say no',
    })
    const denied = await transfer({ admit: async () => 'announce yourself first' })
    expect(denied.error?.message).toContain('announce yourself first')
    const unknown = await transfer({ name: 'other' })
    expect(unknown.error?.code).toBe('files.unknown_name')
    const gone = await transfer({ source: join(folder, 'nothing') })
    expect(gone.error?.code).toBe('files.refused')
    expect(gone.error?.message).not.toContain(folder)
  })

  it('is received by one process at a time in one place, and by anyone who comes after one that is gone', async () => {
    await transfer({ onSent: cutAfter(1) })
    const lock = join(folder, 'copy.mesh-part/lock')
    writeFileSync(lock, RUNNING)
    expect((await transfer()).error?.code).toBe('files.locked')
    writeFileSync(lock, '')
    expect((await transfer({ onSent: cutAfter(1) })).error?.code).toBe('files.broken_off')
    // the process that wrote it last is gone, even if another process has its number by now
    writeFileSync(lock, '6 0')
    expect((await transfer({ onSent: cutAfter(2) })).error?.code).toBe('files.broken_off')
    writeFileSync(lock, PROCESSES.self)
    expect((await transfer()).error).toBeUndefined()
  })

  it('is received once at a time by one process, whichever way leads to the place', async () => {
    mkdirSync(join(folder, 'inbox', 'copy.mesh-part'), { recursive: true })
    symlinkSync(join(folder, 'inbox'), join(folder, 'link'))
    const locks = new DestinationLocks(PROCESSES)
    const destination = join(folder, 'link', 'copy')
    const release = await locks.take(join(folder, 'inbox', 'copy.mesh-part', 'lock'))
    expect((await transfer({ destination, locks })).error?.code).toBe('files.locked')
    await release()
    expect((await transfer({ destination, locks })).error).toBeUndefined()
    expect((await transfer({ destination, locks })).error).toBeUndefined()
  })

  it('goes into a folder that a link leads to', async () => {
    mkdirSync(join(folder, 'disk'))
    symlinkSync(join(folder, 'disk'), join(folder, 'inbox'))
    expect((await transfer({ destination: join(folder, 'inbox') })).path).toBe(
      join(folder, 'inbox', 'source'),
    )
    expect(readdirSync(join(folder, 'disk'))).toEqual(['source'])
  })
})

describe('a folder', () => {
  const SMALL_FILES = 400
  beforeEach(() => {
    const source = join(folder, 'source')
    mkdirSync(join(source, 'empty'), { recursive: true })
    mkdirSync(join(source, 'deep', 'er'), { recursive: true })
    writeFileSync(join(source, 'deep', 'er', 'big'), randomBytes(SIZE))
    writeFileSync(join(source, 'zero'), '')
    for (let index = 0; index < SMALL_FILES; index++)
      writeFileSync(join(source, `f${index}`), `content ${index}`)
  })

  const treeOf = (path: string): readonly string[] =>
    readdirSync(path, { recursive: true, withFileTypes: true })
      .map((child) => {
        const full = join(child.parentPath, child.name)
        return `${full.slice(path.length)} ${child.isFile() ? hashOf(full) : 'folder'}`
      })
      .toSorted()

  it('arrives as it is, empty folders and files too', async () => {
    const { error, isAcknowledged } = await transfer()
    expect(error).toBeUndefined()
    expect(isAcknowledged).toBe(true)
    expect(treeOf(join(folder, 'copy'))).toEqual(treeOf(join(folder, 'source')))
    expect(readdirSync(folder).toSorted()).toEqual(['copy', 'source'])
  })

  it('is gone on with: whole files do not come again, and those that are gone at the sender do not stay', async () => {
    let files = 0
    const first = await transfer({
      onSent: (message) => (message.type === 'end' && ++files > SMALL_FILES / 2 ? undefined : message),
    })
    expect(first.error?.code).toBe('files.broken_off')
    rmSync(join(folder, 'source', 'f0'))
    let again = 0
    const second = await transfer({
      onSent: (message) => {
        if (message.type === 'begin') again++
        return message
      },
    })
    expect(second.error).toBeUndefined()
    // what was on the way when it broke off comes again
    expect(again).toBeLessThan(0.95 * SMALL_FILES)
    expect(treeOf(join(folder, 'copy'))).toEqual(treeOf(join(folder, 'source')))
  })

  it('leaves links and pipes out, so that nothing outside of it is sent', async () => {
    writeFileSync(join(folder, 'secret'), 'secret')
    symlinkSync(join(folder, 'secret'), join(folder, 'source', 'link'))
    symlinkSync(folder, join(folder, 'source', 'up'))
    const { leftOut } = await transfer()
    expect(readdirSync(join(folder, 'copy'))).not.toContain('link')
    expect(readdirSync(join(folder, 'copy'))).not.toContain('up')
    expect(leftOut).toMatchObject({ count: 2, names: ['link: a link', 'up: a link'] })
  })

  const RAW_NAME = Buffer.from([0x6e, 0xff, 0x61, 0xef])
  const rawPlace = (...names: readonly string[]) =>
    Buffer.concat([Buffer.from(`${join(folder, ...names)}/`), RAW_NAME])
  const ODD_NAMES = ['Makefile', 'makefile', 'aux.c', 'caf\u00e9', 'cafe\u0301', 'two\nlines', 'back\\slash']
  const writeOddNames = () => {
    for (const name of ODD_NAMES) writeFileSync(join(folder, 'source', name), name)
    mkdirSync(rawPlace('source'))
    writeFileSync(Buffer.concat([rawPlace('source'), Buffer.from('/'), RAW_NAME]), 'raw')
  }

  it('arrives with every name that the file system here takes, byte for byte', async () => {
    writeOddNames()
    const { error, leftOut } = await transfer()
    expect(error).toBeUndefined()
    expect(leftOut?.count).toBe(0)
    for (const name of ODD_NAMES) expect(readFileSync(join(folder, 'copy', name), 'utf8')).toBe(name)
    const raw = Buffer.concat([rawPlace('copy'), Buffer.from('/'), RAW_NAME])
    expect(readFileSync(raw, 'utf8')).toBe('raw')
  })

  it('goes to an older receiver without the names that not every system has, and says so', async () => {
    writeOddNames()
    const { error, leftOut } = await transfer({ isOldReceiver: true })
    expect(error).toBeUndefined()
    expect(readdirSync(join(folder, 'copy'))).toHaveLength(SMALL_FILES + 3 + 2)
    expect(leftOut?.count).toBe(7)
    expect(leftOut?.names).toContain('aux.c: a name belongs to a device')
    expect(leftOut?.names).toContain('n\\xffa\\xef/n\\xffa\\xef: its folder is left out')
  })

  it('with a file that the sender may not read is refused, with its path, when it is offered and when it is asked for', async () => {
    chmodSync(folder, 0o777)
    chmodSync(join(folder, 'source', 'f7'), 0o000)
    // root may read everything
    const isRoot = process.geteuid?.() === 0
    if (isRoot) process.seteuid?.(NOBODY)
    try {
      const scan = await scanShare(join(folder, 'source'), signal)
      await expect(requireReadable(scan, signal)).rejects.toThrow(
        `${join(folder, 'source', 'f7')} cannot be read`,
      )
      const { error } = await transfer()
      expect(error?.code).toBe('files.refused')
      expect(error?.message).toBe('the sender refused: the sender may not read f7')
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
  })

  it('is refused where something stands already', async () => {
    mkdirSync(join(folder, 'copy', 'source'), { recursive: true })
    expect((await transfer()).error?.code).toBe('files.destination')
  })
})

describe('a hostile sender', () => {
  const file = { isFolder: false, size: 3, modifiedMs: 0, isExecutable: false }
  beforeEach(() => writeFileSync(join(folder, 'source'), 'abc'))

  const sentInstead = (replace: (message: FileMessage) => FileMessage) => transfer({ onSent: replace })

  it('cannot leave the folder by a name', async () => {
    for (const path of ['../evil', '/evil', 'a/../../evil', '..']) {
      const { error } = await sentInstead((message) => {
        if (message.type === 'offer') return { ...message, isFolder: true }
        return message.type === 'entries' ? { type: 'entries', entries: [{ ...file, path }] } : message
      })
      expect(error?.code).toBe('files.bad_share')
    }
    const { error } = await sentInstead((message) =>
      message.type === 'offer' ? { ...message, name: '../evil' } : message,
    )
    expect(error?.code).toBe('files.bad_share')
    expect(readdirSync(folder)).toEqual(['source'])
  })

  it('cannot keep a receiver busy with nothing', async () => {
    const nothing = await sentInstead((message) =>
      message.type === 'data' ? { type: 'data', bytes: new Uint8Array(0) } : message,
    )
    expect([nothing.error?.code, nothing.error?.message]).toEqual([
      'files.bad_share',
      'the sender sent something out of order: data of nothing',
    ])
    const [sending, receiving] = createChannelPair({ window: 1_000 })
    for (let said = 0; said < 500; said++) await sending.send(encodeFileMessage({ type: 'busy' }))
    await sending.send(encodeFileMessage({ type: 'done', leftOut: NOTHING_LEFT_OUT }))
    const conversation = createConversation(receiving, { clock: systemClock })
    await expect(conversation.next()).rejects.toThrow('says without pause that it is busy')
    await expect(
      sending.send(encodeFileMessage({ type: 'done', leftOut: NOTHING_LEFT_OUT })),
    ).rejects.toThrow('busy')
  })

  it('cannot send more than it announced, or something out of order', async () => {
    const more = await sentInstead((message) =>
      message.type === 'data' ? { type: 'data', bytes: Buffer.from('abcd') } : message,
    )
    expect(more.error?.code).toBe('files.bad_share')
    const early = await sentInstead((message) =>
      message.type === 'begin'
        ? { type: 'end', index: 0, sha256: new Uint8Array(32), hasChanged: false }
        : message,
    )
    expect(early.error?.code).toBe('files.bad_share')
    const long = await sentInstead((message) =>
      message.type === 'offer' ? { ...message, entryCount: 4_000_000_000 } : message,
    )
    expect(long.error?.code).toBe('files.bad_share')
    const huge = await sentInstead((message) =>
      message.type === 'entries'
        ? { type: 'entries', entries: [{ ...file, path: 'source', size: 2 ** 52 }] }
        : message,
    )
    expect(huge.error?.code).toBe('files.no_space')
  })
})
