/** Files of a ledger with flipped bytes, cut short, or gone: noticed, set aside, and replaced by the copy. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, MeshError, silentLogger, systemClock } from '@mesh/core'
import { createManualClock, createSeededRandom, eventually, type ManualClock } from '@mesh/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLedger, type Ledger } from '../src/index.ts'
import { isLogBroken } from '../src/node/log-check.ts'
import { createNodeSigner, type DiskStore, openDiskStore, setAsideDamaged, StoreCopies } from '../src/node.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-damaged-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const file = () => join(folder, 'ledger.db')
const signer = createNodeSigner(new Uint8Array(32).fill(1))
const open = () => createLedger({}, { signer, store: openDiskStore({ path: file() }) })

async function writeSome(ledger: Ledger, count: number, prefix = 'k'): Promise<void> {
  const value = (n: number) => JSON.stringify(`${n} `.repeat(20 + (n % 50)))
  const writes = Array.from({ length: count }, (_, n) => ledger.put('notes', `${prefix}${n}`, value(n)))
  await Promise.all(writes.map(({ settled }) => settled))
}

const keysOf = (ledger: Ledger) => [...ledger.snapshot().entries()].map(({ key }) => key)

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

describe('a file that is not what was written', () => {
  /** Opens the bytes as a ledger: what it holds, or the code of the error. */
  async function read(bytes: Uint8Array): Promise<string> {
    for (const suffix of ['', '-wal', '-journal', '-shm']) rmSync(file() + suffix, { force: true })
    writeFileSync(file(), bytes)
    let ledger: Ledger
    try {
      ledger = open()
    } catch (error) {
      return error instanceof MeshError ? error.code : String(error)
    }
    const held = JSON.stringify([...ledger.snapshot().entries()].map(({ key, entry }) => [key, entry.value]))
    await ledger.stop()
    return held
  }

  async function soundFile(): Promise<Buffer> {
    const ledger = open()
    await writeSome(ledger, 150)
    await ledger.stop()
    return readFileSync(file())
  }

  test('is noticed at whatever place a byte was flipped, or holds all the same', {
    timeout: 60_000,
  }, async () => {
    const sound = await soundFile()
    const whole = await read(sound)
    const random = createSeededRandom(13)
    const places = [
      ...Array.from({ length: 100 }, (_, at) => at),
      ...Array.from({ length: 120 }, () => Math.floor(random.float() * sound.length)),
    ]
    for (let page = 4096; page < sound.length; page += 4096) places.push(page, page + 3, page + 5, page + 9)
    const missed: string[] = []
    let noticed = 0
    for (const at of places) {
      const bytes = Buffer.from(sound)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random.float() * 8))
      const found = await read(bytes)
      if (found === 'ledger.store_damaged') noticed++
      else if (found !== whole) missed.push(`byte ${at}: ${found.slice(0, 100)}`)
    }
    expect(missed).toEqual([])
    expect(noticed).toBeGreaterThan(places.length / 4)
  })

  test('is noticed wherever it was cut, to nothing where a copy is beside it', async () => {
    const sound = await soundFile()
    writeFileSync(`${file()}.copy`, sound)
    for (let length = 0; length < sound.length; length += 3001) {
      expect(await read(sound.subarray(0, length)), `${length} bytes`).toBe('ledger.store_damaged')
    }
  })
})

describe('the log of a file that was not closed', () => {
  /** Leaves file and log in another folder as they would be after a kill, and gives the file's path. */
  async function killed(count: number): Promise<string> {
    const store = openDiskStore({ path: file() })
    const ledger = createLedger({}, { signer, store })
    for (let n = 0; n < count; n += 10) await writeSome(ledger, 10, `${n} `)
    const place = mkdtempSync(join(folder, 'killed-'))
    for (const suffix of ['', '-wal']) copyFileSync(file() + suffix, join(place, `ledger.db${suffix}`))
    await ledger.stop()
    return join(place, 'ledger.db')
  }

  /** Flips a byte of a killed file's log, opens it, and gives how many entries are left, and how it was set aside. */
  async function flipped(path: string, place: number) {
    const log = readFileSync(`${path}-wal`)
    const at = Math.floor(log.length * place)
    log[at] = (log[at] ?? 0) ^ 1
    writeFileSync(`${path}-wal`, log)
    const openAgain = () => createLedger({}, { signer, store: openDiskStore({ path }) })
    const error = thrownBy(openAgain)
    expect(error).toMatchObject({ code: 'ledger.store_damaged' })
    const done = setAsideDamaged(path, error, systemClock)
    expect(done?.reason).toContain('its log is not what was written')
    expect(readFileSync(done?.isContinued ? done.movedTo : `${done?.movedTo}-wal`).equals(log)).toBe(true)
    const ledger = openAgain()
    const left = keysOf(ledger).length
    await ledger.stop()
    return { left, done }
  }

  test('is what was written, also where it was used before and begins anew', async () => {
    for (const count of [0, 10, 100, 1_500]) {
      const path = await killed(count)
      expect(isLogBroken(path)).toBe(false)
      const ledger = createLedger({}, { signer, store: openDiskStore({ path }) })
      expect(keysOf(ledger).length).toBeGreaterThanOrEqual(count)
      await ledger.stop()
    }
  })

  test('is noticed wherever a byte of it was flipped, and the file goes on with what it holds', async () => {
    const lefts: number[] = []
    for (const place of [0.00001, 0.2, 0.5, 0.8]) {
      const path = await killed(100)
      const { left, done } = await flipped(path, place)
      expect(done).toMatchObject({ copiedAt: undefined, isContinued: true })
      lefts.push(left)
      rmSync(file())
    }
    expect(lefts[0]).toBe(0)
    expect(lefts).toEqual(lefts.toSorted((a, b) => a - b))
    expect(lefts.at(-1)).toBeLessThan(100)
  })

  test('may end anywhere within its last transaction, as after a power cut', async () => {
    const path = await killed(100)
    const log = readFileSync(`${path}-wal`)
    const frameBytes = 24 + log.readUInt32BE(8)
    const frames = Math.floor((log.length - 32) / frameBytes)
    const startOf = (frame: number) => 32 + frame * frameBytes
    const ends = Array.from({ length: frames }, (_, frame) => log.readUInt32BE(startOf(frame) + 4) !== 0)
    // what an earlier use left behind the last end has other salts, and there is none in a new log
    const last = ends.lastIndexOf(true)
    const begin = ends.lastIndexOf(true, last - 1) + 1
    expect(last - begin).toBeGreaterThan(0)
    const torn = async (change: (copy: Buffer) => Buffer) => {
      writeFileSync(`${path}-wal`, change(Buffer.from(log)))
      expect(isLogBroken(path)).toBe(false)
      const opened = join(mkdtempSync(join(folder, 'torn-')), 'ledger.db')
      for (const suffix of ['', '-wal']) copyFileSync(path + suffix, opened + suffix)
      const ledger = createLedger({}, { signer, store: openDiskStore({ path: opened }) })
      expect(keysOf(ledger)).toHaveLength(90)
      await ledger.stop()
    }
    for (let frame = begin; frame <= last; frame++) {
      await torn((copy) => copy.fill(0, startOf(frame) + 2_000, startOf(frame) + frameBytes))
      await torn((copy) => copy.fill(0, startOf(frame), startOf(frame) + frameBytes))
      await torn((copy) => copy.subarray(0, startOf(frame) + 100))
    }
  })

  test('may have frames of a transaction that was taken back behind its end', async () => {
    const path = await killed(100)
    const log = readFileSync(`${path}-wal`)
    const frameBytes = 24 + log.readUInt32BE(8)
    const left = Buffer.from(log.subarray(32, 32 + 3 * frameBytes))
    for (let frame = 0; frame < 3; frame++) left.writeUInt32BE(0, frame * frameBytes + 4)
    writeFileSync(`${path}-wal`, Buffer.concat([log, left]))
    expect(isLogBroken(path)).toBe(false)
    const ledger = createLedger({}, { signer, store: openDiskStore({ path }) })
    expect(keysOf(ledger)).toHaveLength(100)
    await ledger.stop()
  })

  test('gives way to a copy that is newer', async () => {
    const path = await killed(100)
    writeFileSync(`${path}.copy`, readFileSync(file()))
    const { left, done } = await flipped(path, 0.5)
    expect(done).toMatchObject({ isContinued: false })
    expect(done?.copiedAt).toBeGreaterThan(0)
    expect(left).toBe(100)
  })
})

describe('a copy', () => {
  /** Hours pass when the test says so; the pauses within the work are real. */
  /** Copies of which a clock by hand keeps the times from `byHandMs` on. */
  const copied = (ledger: Ledger, store: DiskStore, byHandMs = 1_000) => {
    const hours = createManualClock()
    const clock: Clock = {
      ...systemClock,
      after: (delayMs, run, options) =>
        (delayMs < byHandMs ? systemClock : hours).after(delayMs, run, options),
    }
    const contents = () => ledger.contents()
    const copies = new StoreCopies({ store, contents }, { clock, log: silentLogger })
    return { hours, copies }
  }

  test('takes the place of a damaged file, which is kept', async () => {
    const store = openDiskStore({ path: file() })
    const ledger = createLedger({}, { signer, store })
    await writeSome(ledger, 50)
    const { hours, copies } = copied(ledger, store)
    await hours.advance(120_000)
    await eventually(() => expect(existsSync(`${file()}.copy`)).toBe(true))
    expect(statSync(`${file()}.copy`).mode & 0o777).toBe(0o600)
    await writeSome(ledger, 5, 'later')
    const atEnd = keysOf(ledger)
    await ledger.stop()
    // it is copied once more as it was left, as the copy is of two hours ago
    const longAgo = (systemClock.now() - 2 * 3_600_000) / 1_000
    utimesSync(`${file()}.copy`, longAgo, longAgo)
    await copies.stop()
    expect(readdirSync(folder).toSorted()).toEqual(['ledger.db', 'ledger.db.copy'])

    const damaged = readFileSync(file()).fill(0x55, 4096, 8192)
    writeFileSync(file(), damaged)
    const done = setAsideDamaged(file(), thrownBy(open), systemClock)
    expect(done?.copiedAt).toBeGreaterThan(0)
    expect(readFileSync(done?.movedTo ?? '').equals(damaged)).toBe(true)
    const back = open()
    expect(keysOf(back)).toEqual(atEnd)
    await back.stop()
  })

  test.each([
    ['program that wrote it', 68],
    ['version of its tables', 60],
  ])('takes the place of a file in which the number of the %s is damaged', async (_, at) => {
    const ledger = open()
    await writeSome(ledger, 5)
    await ledger.stop()
    const damaged = readFileSync(file())
    damaged[at] = (damaged[at] ?? 0) ^ 0x10
    writeFileSync(file(), damaged)
    const error = thrownBy(open)
    expect(error).toMatchObject({ code: 'ledger.store_damaged' })
    expect(setAsideDamaged(file(), error, systemClock)?.movedTo).toContain('.damaged-')
  })

  test('that is fresh is not made again at the end, nor one that would take long', async () => {
    const store = openDiskStore({ path: file() })
    const ledger = createLedger({}, { signer, store })
    await writeSome(ledger, 50)
    const first = copied(ledger, store).copies
    await ledger.stop()
    await first.stop()
    const before = statSync(`${file()}.copy`)
    const again = copied(ledger, store).copies
    await again.stop()
    expect(statSync(`${file()}.copy`).ino).toBe(before.ino)

    // made while the clock was ahead
    const inTwoDays = Date.now() / 1000 + 172_800
    utimesSync(`${file()}.copy`, inTwoDays, inTwoDays)
    await copied(ledger, store).copies.stop()
    expect(statSync(`${file()}.copy`).ino).not.toBe(before.ino)

    rmSync(`${file()}.copy`)
    const { copies: late, hours } = copied(ledger, store, 100)
    const stopping = late.stop()
    await hours.advance(500)
    await stopping
    expect(readdirSync(folder)).toEqual(['ledger.db'])
  })

  test.each(['.copy', '-wal'])(
    'an empty file with %s beside it is none that was just made',
    async (suffix) => {
      writeFileSync(file(), '')
      writeFileSync(file() + suffix, 'x')
      const error = thrownBy(open)
      expect(error).toMatchObject({ code: 'ledger.store_damaged' })
      expect(setAsideDamaged(file(), error, systemClock)?.reason).toContain(`${suffix} is not`)
    },
  )

  test('takes the place of what is no file', async () => {
    await open().stop()
    renameSync(file(), `${file()}.copy`)
    mkdirSync(file())
    expect(setAsideDamaged(file(), thrownBy(open), systemClock)?.copiedAt).toBeDefined()
    await open().stop()
    expect(readdirSync(folder)).toContainEqual(expect.stringContaining('ledger.db.damaged-'))
  })

  test('does not take the place of a sound file whose log is no file, and that is said', async () => {
    await open().stop()
    mkdirSync(`${file()}-journal`)
    const error = thrownBy(open)
    expect(error).toMatchObject({
      code: 'ledger.store_failed',
      message: expect.stringContaining('ledger.db-journal is no file of SQLite: remove it') as string,
    })
    expect(setAsideDamaged(file(), error, systemClock)).toBeUndefined()
  })

  test('that is damaged, too, goes aside as well, and the ledger begins empty', async () => {
    await open().stop()
    writeFileSync(file(), 'no database, '.repeat(1000))
    writeFileSync(`${file()}.copy`, 'no database either, '.repeat(1000))
    expect(setAsideDamaged(file(), thrownBy(open), systemClock)?.copiedAt).toBeDefined()
    expect(setAsideDamaged(file(), thrownBy(open), systemClock)?.copiedAt).toBeUndefined()
    const empty = open()
    expect(keysOf(empty)).toEqual([])
    await empty.stop()
    expect(readdirSync(folder).filter((name) => name.includes('damaged'))).toHaveLength(2)
  })

  test('is not used for a file that is in use or of a later version', async () => {
    const first = open()
    const error = thrownBy(open)
    expect(error).toMatchObject({ code: 'ledger.store_locked' })
    expect(setAsideDamaged(file(), error, systemClock)).toBeUndefined()
    await first.stop()
    const bytes = readFileSync(file())
    bytes.writeUInt32BE(99, 60)
    writeFileSync(file(), bytes)
    expect(setAsideDamaged(file(), thrownBy(open), systemClock)).toBeUndefined()
    expect(readFileSync(file()).equals(bytes)).toBe(true)
  })

  test('of a file that was damaged while it was in use is not kept, and that is said', async () => {
    const store = openDiskStore({ path: file() })
    const ledger = createLedger({}, { signer, store })
    // more than SQLite keeps in memory
    const value = (n: number) => JSON.stringify(`${n} `.repeat(15_000))
    const writes = Array.from({ length: 80 }, (_, n) => ledger.put('notes', `k${n}`, value(n)))
    await Promise.all(writes.map(({ settled }) => settled))
    await ledger.stop()

    const again = openDiskStore({ path: file() })
    const running = createLedger({}, { signer, store: again })
    const { hours, copies } = copied(running, again)
    await hours.advance(120_000)
    await untilPlanned(hours)
    const sound = readFileSync(`${file()}.copy`)
    const bytes = readFileSync(file())
    for (let at = bytes.indexOf(' 15 15 '); at >= 0; at = bytes.indexOf(' 15 15 ', at + 1))
      bytes[at + 1] = 0x39
    writeFileSync(file(), bytes)
    await writeSome(running, 1, 'new')
    await hours.advance(3_600_000)
    await eventually(() => expect(copies.problem).toMatchObject({ isDamaged: true }), { withinMs: 10_000 })
    await eventually(() => expect(copies.problem).toMatchObject({ isCopied: true }), { withinMs: 10_000 })
    expect(readFileSync(`${file()}.copy`).equals(sound)).toBe(false)
    await running.stop()
    await copies.stop()
    await expectRestored(keysOf(running))
  })

  /** Starts again with what stands beside a damaged file, and expects the copy of it in its place. */
  async function expectRestored(keys: readonly string[]): Promise<void> {
    const done = setAsideDamaged(file(), thrownBy(open), systemClock)
    expect(done?.copiedAt).toBeGreaterThan(0)
    const back = open()
    expect(keysOf(back)).toEqual(keys)
    await back.stop()
  }

  /** A ledger that runs, of whose file a copy was made since. */
  async function runningWithCopy(count: number, init = {}) {
    const store = openDiskStore({ path: file() })
    const ledger = createLedger(init, { signer, store })
    await writeSome(ledger, count)
    const { hours, copies } = copied(ledger, store)
    await hours.advance(120_000)
    await untilPlanned(hours)
    return { ledger, copies, hours }
  }

  /** Resolves when there is a copy, and the next one is planned, which comes after it. */
  const untilPlanned = (hours: ManualClock) =>
    eventually(() => expect([existsSync(`${file()}.copy`), hours.pending]).toEqual([true, 1]))

  /** Changes bytes of a file as a disk does: in place, while others have it open. */
  function overwrite(path: string, change: (bytes: Buffer) => void): void {
    const bytes = readFileSync(path)
    change(bytes)
    writeFileSync(path, bytes, { flag: 'r+' })
  }

  const changeValues = (bytes: Buffer) => {
    for (let at = bytes.indexOf(' 40 40 '); at >= 0; at = bytes.indexOf(' 40 40 ', at + 1))
      bytes[at + 1] = 0x39
  }

  test('is made of what is in memory where the file and the copy were damaged, and loses nothing', async () => {
    const { ledger, copies, hours } = await runningWithCopy(50, { tombstoneTtlMs: 0 })
    // a tombstone that was collected must stay known
    const old = [...ledger.snapshot().entries()].filter(({ key }) => key === 'k1')
    await ledger.delete('notes', 'k1').settled
    await eventually(() => expect(ledger.reap().collected).toBe(1))
    // SQLite has all of so small a file in memory
    for (const path of [file(), `${file()}.copy`]) overwrite(path, changeValues)
    await hours.advance(3_600_000)
    await eventually(() => expect(copies.problem).toMatchObject({ isDamaged: true, isCopied: true }))
    await writeSome(ledger, 3, 'after')
    const keys = keysOf(ledger)
    expect(keys).toHaveLength(52)
    await ledger.stop()
    await copies.stop()
    expect(readdirSync(folder).toSorted()).toEqual(['ledger.db', 'ledger.db.copy'])
    await expectRestored(keys)
    const back = open()
    expect(back.merge(old, undefined).rejected).toMatchObject([{ key: 'k1', code: 'REPLAYED' }])
    await back.stop()
  })

  test('is looked at although nothing changes, and made of what is in memory where it is damaged, too', async () => {
    const { ledger, copies, hours } = await runningWithCopy(50)
    for (const path of [file(), `${file()}.copy`]) overwrite(path, changeValues)
    await hours.advance(3_600_000)
    await eventually(() => expect(copies.problem).toMatchObject({ isDamaged: true, isCopied: true }))
    const keys = keysOf(ledger)
    await ledger.stop()
    await copies.stop()
    expect(readdirSync(folder).toSorted()).toEqual(['ledger.db', 'ledger.db.copy'])
    await expectRestored(keys)
  })

  test('is not taken from a file whose free pages are damaged, which no entry shows', async () => {
    const init = { tombstoneTtlMs: 0 }
    const first = createLedger(init, { signer, store: openDiskStore({ path: file() }) })
    await writeSome(first, 400)
    const dropped = keysOf(first).slice(100)
    await Promise.all(dropped.map((key) => first.delete('notes', key).settled))
    await eventually(() => expect(first.reap().collected).toBe(dropped.length))
    await first.stop()

    const store = openDiskStore({ path: file() })
    const ledger = createLedger(init, { signer, store })
    const { hours, copies } = copied(ledger, store)
    overwrite(file(), (bytes) => {
      const firstFree = bytes.readUInt32BE(32)
      expect(firstFree).toBeGreaterThan(0)
      bytes.writeUInt32BE(0x7fff_ffff, (firstFree - 1) * 4096)
    })
    await hours.advance(120_000)
    await eventually(() => expect(copies.problem).toMatchObject({ isDamaged: true, isCopied: true }))
    await ledger.stop()
    await copies.stop()
    await expectRestored(keysOf(ledger))
  })

  /** A ledger with a copy whose file is damaged under it, as a write found; `sound` is what the file was. */
  async function foundDamaged() {
    const { ledger, copies: before } = await runningWithCopy(50)
    await ledger.stop()
    await before.stop()
    const store = openDiskStore({ path: file() })
    const again = createLedger({}, { signer, store })
    const { hours, copies } = copied(again, store)
    const sound = readFileSync(file())
    overwrite(file(), (bytes) => {
      // the kind of each page of the entries
      for (let page = 4096; page < bytes.length; page += 4096) bytes[page] = 0x77
    })
    await store.copyTo(join(folder, 'forgets what is in memory')).catch(() => {})
    rmSync(join(folder, 'forgets what is in memory'), { force: true })
    expect(await again.put('notes', 'k1', '"new"').settled).toMatchObject({
      state: 'refused',
      error: { code: 'ledger.store_failed', hint: expect.stringContaining('damaged') as string },
    })
    await hours.advance(0)
    await eventually(() => expect(copies.problem).toMatchObject({ isDamaged: true, isCopied: true }))
    await untilPlanned(hours)
    return { ledger: again, copies, hours, sound }
  }

  test('is made at once when a write finds the file damaged, which stays told, and writes stay refused', async () => {
    const { ledger, copies, hours } = await foundDamaged()
    expect(copies.problem?.message).not.toContain('.new')
    await hours.advance(120_000)
    expect(ledger.storeFailure()).toMatchObject({ isDamaged: true })
    const keys = keysOf(ledger)
    await ledger.stop()
    await copies.stop()
    await expectRestored(keys)
  })

  test('is made again when the file can be read again, and writes are taken again', async () => {
    const { ledger, copies, hours, sound } = await foundDamaged()
    overwrite(file(), (bytes) => void sound.copy(bytes))
    await hours.advance(120_000)
    await eventually(() => expect(copies.problem).toBeUndefined())
    await eventually(() => expect(ledger.storeFailure()).toBeUndefined(), { withinMs: 10_000 })
    expect((await ledger.put('notes', 'k1', '"new"').settled).state).toBe('committed')
    await ledger.stop()
    await copies.stop()
    const back = open()
    expect(keysOf(back)).toHaveLength(50)
    await back.stop()
  })
})
