/** A disk that gets full in the middle: a file system in memory, which another file fills at that moment. */
import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, silentLogger, systemClock } from '@mesh/core'
import { createManualClock, eventually, type ManualClock } from '@mesh/testkit'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createLedger, type Ledger } from '../src/index.ts'
import { COPY_INTERVAL_MS, COPY_RETRY_MS, FIRST_COPY_MS, SLICE_MS } from '../src/limits.ts'
import { verifyCopy } from '../src/node/verify-copy.ts'
import { createNodeSigner, openDiskStore, StoreCopies } from '../src/node.ts'

const disk = mkdtempSync(join(tmpdir(), 'mesh-full-'))
const run = (...argv: [string, ...string[]]) => spawnSync(argv[0], argv.slice(1), { encoding: 'utf8' })
const mounted =
  process.getuid?.() === 0 && run('mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk).status === 0
const why = mounted ? '' : ' (skipped: mounting a file system needs root)'
const file = join(disk, 'ledger.db')
const filler = join(disk, 'filler')
const signer = createNodeSigner(new Uint8Array(32).fill(1))

afterEach(() => {
  for (const name of readdirSync(disk)) rmSync(join(disk, name))
})
afterAll(() => {
  if (mounted) run('umount', disk)
  rmSync(disk, { recursive: true, force: true })
})

/** Takes all of the disk but so many bytes, also where others write meanwhile. */
function fillDisk(leftBytes = 0): void {
  const { bsize, bavail } = statfsSync(disk)
  const descriptor = openSync(filler, 'w')
  try {
    if (leftBytes > 0) writeSync(descriptor, Buffer.alloc(bsize * bavail - leftBytes))
    else for (;;) writeSync(descriptor, Buffer.alloc(bsize))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(descriptor)
  }
}

/** How many writes share a block. */
const TOGETHER = 10

/** Writes keys, some at a time, and gives those that were taken. */
async function write(ledger: Ledger, prefix: string, count: number): Promise<string[]> {
  const taken: string[] = []
  for (let n = 0; n < count; n += TOGETHER) {
    const keys = Array.from({ length: Math.min(TOGETHER, count - n) }, (_, more) => `${prefix}${n + more}`)
    const value = (key: string) => JSON.stringify(key.padEnd(30_000, 'x'))
    const writes = keys.map((key) => ledger.put('notes', key, value(key)))
    const outcomes = await Promise.all(writes.map(({ settled }) => settled))
    taken.push(...keys.filter((_, at) => outcomes[at]?.state === 'committed'))
  }
  return taken
}

const keysOf = (ledger: Ledger) => [...ledger.snapshot().entries()].map(({ key }) => key)
const open = () => createLedger({}, { signer, store: openDiskStore({ path: file }) })

describe.skipIf(!mounted)(`a disk that gets full in the middle${why}`, () => {
  async function runningWithCopy(time: (clock: ManualClock) => Clock = (clock) => clock) {
    const store = openDiskStore({ path: file })
    const ledger = createLedger({}, { signer, store })
    const taken = await write(ledger, 'first', 150)
    const clock = createManualClock()
    const components = { clock: time(clock), log: silentLogger }
    const copies = new StoreCopies({ store, contents: () => ledger.contents() }, components)
    const copied = () =>
      eventually(
        async () => {
          await clock.advance(100)
          expect(readdirSync(disk).filter((name) => name.includes('.copy'))).toEqual(['ledger.db.copy'])
          // the next one is planned after that: time that passes before does not count for it
          expect(clock.pending).toBe(1)
        },
        { withinMs: 10_000 },
      )
    await clock.advance(FIRST_COPY_MS)
    await copied()
    taken.push(...(await write(ledger, 'second', 20)))
    return { ledger, copies, clock, copied, taken, before: readFileSync(`${file}.copy`) }
  }

  /** Fills the disk as soon as what becomes the copy has so many bytes. */
  async function fillWhenCopied(bytes: number): Promise<void> {
    const sizeNow = () => statSync(`${file}.copy.new`, { throwIfNoEntry: false })?.size ?? -1
    const end = performance.now() + 10_000
    while (sizeNow() < bytes) {
      if (performance.now() > end) throw new Error('no copy was begun')
      await new Promise((resolve) => setImmediate(resolve))
    }
    fillDisk()
  }

  const sound = (path: string) =>
    verifyCopy(path, path, { clock: systemClock, signal: AbortSignal.timeout(10_000) })

  test.each([0, 1, 2_000_000])(
    'while a copy is made, of which %d bytes stand, leaves the copy before, says so, and is copied again when there is room',
    async (bytes) => {
      const { ledger, copies, clock, copied, taken, before } = await runningWithCopy()
      const filling = fillWhenCopied(bytes)
      await clock.advance(COPY_INTERVAL_MS)
      await filling
      await eventually(() => expect(copies.problem).toMatchObject({ isDamaged: false, isCopied: false }), {
        withinMs: 10_000,
      })
      expect(copies.problem?.message).toContain('full')
      // of a half copy nothing stays, and it took nobody's place
      await copied()
      expect(readFileSync(`${file}.copy`).equals(before)).toBe(true)
      taken.push(...(await write(ledger, 'third', 200)))
      expect(taken.length).toBeLessThan(370)
      expect(ledger.storeFailure()).toMatchObject({ isDamaged: false })

      rmSync(filler)
      await clock.advance(COPY_RETRY_MS)
      await eventually(
        async () => {
          await clock.advance(100)
          expect(copies.problem).toBeUndefined()
        },
        { withinMs: 10_000 },
      )
      await sound(`${file}.copy`)
      await eventually(() => expect(ledger.storeFailure()).toBeUndefined(), { withinMs: 10_000 })
      taken.push(...(await write(ledger, 'fourth', 1)))
      expect(taken.at(-1)).toBe('fourth0')
      await ledger.stop()
      await copies.stop()
      const back = open()
      expect(keysOf(back).toSorted()).toEqual(taken.toSorted())
      await back.stop()
    },
    60_000,
  )

  test('while a copy is made of what is in memory leaves the copy before, and it is made when there is room', async () => {
    // each look at the time is a slice later, so that writing rests after every few entries
    let slices = 0
    const { ledger, copies, clock, before } = await runningWithCopy((clock) => ({
      now: () => clock.now(),
      monotonic: () => clock.monotonic() + ++slices * SLICE_MS,
      after: (delayMs, then) => clock.after(delayMs, then),
    }))
    // a value that is not what was signed: what is on the disk is damaged
    const at = readFileSync(file).indexOf('first140xxxx')
    const descriptor = openSync(file, 'r+')
    writeSync(descriptor, Buffer.from('F'), 0, 1, at)
    closeSync(descriptor)
    await clock.advance(COPY_INTERVAL_MS)
    await eventually(
      async () => {
        if (copies.problem === undefined) await clock.advance(SLICE_MS)
        expect(copies.problem?.isDamaged).toBe(true)
        expect(statSync(`${file}.copy.new-wal`).size).toBeGreaterThan(100_000)
      },
      { withinMs: 20_000, everyMs: 1 },
    )
    fillDisk()
    await eventually(async () => {
      await clock.advance(100)
      expect(readdirSync(disk)).not.toContain('ledger.db.copy.new')
      expect(clock.pending).toBe(1)
    })
    expect(copies.problem).toMatchObject({ isDamaged: true, isCopied: false })
    expect(readFileSync(`${file}.copy`).equals(before)).toBe(true)
    rmSync(filler)
    await clock.advance(COPY_RETRY_MS)
    await eventually(
      async () => {
        await clock.advance(100)
        expect(copies.problem).toMatchObject({ isDamaged: true, isCopied: true })
      },
      // writing and reading it again rest after each of 170 entries
      { withinMs: 20_000, everyMs: 1 },
    )
    await sound(`${file}.copy`)
    await ledger.stop()
    await copies.stop()
  }, 60_000)

  test('while the log is written back loses no write that was taken, by kill -9 neither, and goes on when there is room', async () => {
    // room for the log, which is written back at 4 MiB, and for half of what that writes
    fillDisk(6.5 * 1024 * 1024)
    const script = join(import.meta.dirname, 'full-disk-writer.ts')
    const child = spawn(process.execPath, ['--conditions=mesh-source', script, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const ended = new Promise((resolve) => child.once('close', resolve))
    await eventually(() => expect(output).toContain('refused'), { withinMs: 20_000 })
    child.kill('SIGKILL')
    await ended
    const lines = output.trimEnd().split('\n')
    const taken = lines.filter((line) => line.endsWith(' committed')).map((line) => line.split(' ')[0])
    expect(taken.length).toBeGreaterThan(100)
    // it was in the middle: some of the log is in the file
    expect(statSync(file).size).toBeGreaterThan(100_000)
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(4 * 1024 * 1024)

    const ledger = open()
    const before = new Set(keysOf(ledger))
    expect(taken.filter((key) => !before.has(key ?? ''))).toEqual([])
    expect(await write(ledger, 'full', 30)).not.toContain('full29')
    expect(ledger.storeFailure()).toMatchObject({ isDamaged: false })
    rmSync(filler)
    await eventually(() => expect(ledger.storeFailure()).toBeUndefined(), { withinMs: 10_000 })
    expect(await write(ledger, 'after', 1)).toEqual(['after0'])
    const keys = keysOf(ledger)
    await ledger.stop()
    const back = open()
    expect(keysOf(back)).toEqual(keys)
    await back.stop()
  }, 60_000)
})
