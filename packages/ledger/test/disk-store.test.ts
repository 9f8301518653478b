import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createManualClock, createSeededRandom, eventually } from '@mesh/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLedger } from '../src/index.ts'
import { createNodeSigner, createNodeVerifier, openDiskStore } from '../src/node.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-ledger-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const file = () => join(folder, 'ledger.db')
const signer = createNodeSigner(new Uint8Array(32).fill(1))
const open = (clock = createManualClock(), init = {}) =>
  createLedger(init, {
    signer,
    clock,
    verify: createNodeVerifier(),
    store: openDiskStore({ path: file() }),
  })
const codeOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    return (error as { code: string }).code
  }
  return 'nothing thrown'
}

test('what was committed is there after stop and start, in every detail', async () => {
  const clock = createManualClock()
  const first = open(clock)
  const writes = [
    first.put('notes', 'ünï\0côde', '"\\u0000 <&> 😀"'),
    first.put('__proto__', '__proto__', '{"__proto__":1}'),
    first.put('notes', 'gone', '1'),
  ]
  await clock.advance(20)
  await Promise.all(writes.map(({ settled }) => settled))
  first.delete('notes', 'gone')
  await first.stop()
  const before = first.snapshot()
  const second = open(clock)
  expect([...second.snapshot().entries()]).toEqual([...before.entries()])
  expect(second.snapshot().head).toEqual(before.head)
  expect(second.snapshot().digest()).toEqual(before.digest())
  expect(second.snapshot().get('notes', 'gone')?.deleted).toBe(true)
  await second.stop()
})

test('a symbolic link that leads to no file is told as one, and nothing is made', () => {
  const gone = join(folder, 'gone.db')
  symlinkSync(gone, file())
  expect(() => openDiskStore({ path: file() })).toThrow(
    expect.objectContaining({
      code: 'ledger.store_damaged',
      message: `${file()} is damaged: it is a symbolic link to ${gone}, where no file can be reached`,
      hint: expect.stringContaining(`Move ${file()} away`) as string,
    }),
  )
  expect(existsSync(gone)).toBe(false)
})

test('versions above 2^63 survive', () => {
  const store = openDiskStore({ path: file() })
  const entry = { value: '1', owner: '', version: 2n ** 64n - 1n, updatedAt: -5, deleted: false, sig: null }
  const head = { index: 1, timestamp: 't', hash: 'h', prevHash: 'p' }
  const pruned = [{ hash: 'aa', version: 2n ** 64n - 2n }]
  const puts = [{ bucket: 'b', key: 'k', entry }]
  store.commit({ head, fingerprint: 'f', puts, removes: [], pruned, forgotten: [] })
  expect(store.load()).toEqual({ head, fingerprint: 'f', entries: puts, pruned })
  store.close()
})

/** The tables of version 1, as a node of that time made them. */
const VERSION_1 = `
  CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1), block INTEGER NOT NULL, timestamp TEXT NOT NULL,
    hash TEXT NOT NULL, prev_hash TEXT NOT NULL, fingerprint TEXT NOT NULL
  ) STRICT;
  CREATE TABLE entry (
    bucket TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, owner TEXT NOT NULL, version INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, deleted INTEGER NOT NULL, sig BLOB, PRIMARY KEY (bucket, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE burial (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, version INTEGER NOT NULL
  ) STRICT;
  PRAGMA application_id = 1835365224;
  PRAGMA user_version = 1;
`

test('a store of version 1 is taken over with all that it holds, and its pruned tombstones stay refused', async () => {
  const clock = createManualClock()
  const init = { tombstoneTtlMs: 1000 }
  const first = open(clock, init)
  await Promise.all([first.put('notes', 'a', '1').settled, first.put('notes', 'b', '2').settled])
  const old = [...first.snapshot().entries()]
  first.delete('notes', 'a')
  await clock.advance(5000)
  expect(first.reap().collected).toBe(1)
  await first.stop()
  downgrade(file())

  const second = open(clock, init)
  expect([...second.snapshot().entries()].map(({ key }) => key)).toEqual(['b'])
  expect(second.snapshot().head).toEqual(first.snapshot().head)
  expect(second.merge(old, undefined).rejected).toMatchObject([{ key: 'a' }])
  await second.put('notes', 'c', '3').settled
  await second.stop()
  const third = open(clock, init)
  expect([...third.snapshot().entries()].map(({ key }) => key)).toEqual(['b', 'c'])
  await third.stop()
})

test('a store of a later version is left alone', () => {
  openDiskStore({ path: file() }).close()
  const database = new DatabaseSync(file())
  database.exec('PRAGMA user_version = 3')
  database.close()
  expect(codeOf(() => openDiskStore({ path: file() }))).toBe('ledger.store_damaged')
})

/** Writes a store anew as version 1 had it. */
function downgrade(path: string): void {
  const made = `${path}.1`
  const database = new DatabaseSync(made)
  database.exec(VERSION_1)
  database.exec(`ATTACH DATABASE '${path}' AS now`)
  for (const [table, source] of [
    ['head', 'head'],
    ['entry', 'entry'],
    ['burial', 'pruned_tombstone'],
  ])
    database.exec(`INSERT INTO main.${table} SELECT * FROM now.${source}`)
  database.close()
  rmSync(path)
  renameSync(made, path)
}

test('a collected tombstone is remembered across a restart', async () => {
  const clock = createManualClock()
  const init = { tombstoneTtlMs: 1000 }
  const first = open(clock, init)
  await first.put('notes', 'a', '1').settled
  const old = [...first.snapshot().entries()]
  first.delete('notes', 'a')
  await clock.advance(5000)
  expect(first.reap()).toEqual({ collected: 1, hasMore: false, ended: 0 })
  await first.stop()
  const second = open(clock, init)
  expect(second.snapshot().size).toBe(0)
  expect(second.merge(old, undefined).rejected).toEqual([{ bucket: 'notes', key: 'a', code: 'REPLAYED' }])
  await second.stop()
})

test('a second process cannot open it', async () => {
  const first = open()
  expect(codeOf(() => openDiskStore({ path: file() }))).toBe('ledger.store_locked')
  const script = `import { openDiskStore } from ${JSON.stringify(join(import.meta.dirname, '../src/node.ts'))}
    try { openDiskStore({ path: ${JSON.stringify(file())} }) } catch (error) { console.log(error.code) }`
  const other = spawn(process.execPath, ['--conditions=mesh-source', '--input-type=module', '-e', script])
  const said = (await other.stdout.toArray()).join('')
  expect(said.trim()).toBe('ledger.store_locked')
  await first.stop()
})

test('only its user can read the file', async () => {
  const ledger = open()
  await ledger.put('a', 'b', '1').settled
  for (const name of [file(), `${file()}-wal`]) expect(statSync(name).mode & 0o777).toBe(0o600)
  await ledger.stop()
})

describe('damage is said, and nothing is deleted', () => {
  const damages: [string, (sound: Buffer) => Buffer][] = [
    ['text that is no database', () => Buffer.from('this is no database, and never was one\n'.repeat(50))],
    ['a truncated file', (sound) => sound.subarray(0, sound.length - 3 * 4096)],
    ['a page of zeros', (sound) => sound.fill(0, 4096 * 5, 4096 * 6)],
    ['one changed letter inside a value, which SQLite would not notice', changeLetter],
    [
      'a newer schema',
      (sound) => {
        sound.writeUInt32BE(99, 60)
        return sound
      },
    ],
  ]

  test.each(damages)('%s', async (_name, damage) => {
    const ledger = open()
    for (let n = 0; n < 200; n++) ledger.put('notes', `k${n}`, `"${'v'.repeat(200)}"`)
    await ledger.stop()
    const bytes = damage(readFileSync(file()))
    writeFileSync(file(), bytes)
    expect(codeOf(() => open())).toBe('ledger.store_damaged')
    expect(readFileSync(file()).equals(bytes)).toBe(true)
  })

  /** In the row, and in what a page split may have left of it in free space. */
  function changeLetter(bytes: Buffer): Buffer {
    for (let at = bytes.indexOf('k100"vvv'); at >= 0; at = bytes.indexOf('k100"vvv', at + 1)) {
      bytes[at + 7] = 0x77
    }
    return bytes
  }
})

test('a missing folder is said with a hint', () => {
  expect(() => openDiskStore({ path: join(folder, 'none', 'ledger.db') })).toThrow(
    expect.objectContaining({ code: 'ledger.store_failed', hint: expect.stringContaining('folder') }),
  )
})

test('a store tells how much more it could take, by its own bound and by its disk, and leaves no file behind', () => {
  const store = openDiskStore({ path: file(), maxBytes: 64 * 4096 })
  expect(store.hasRoomFor?.(32 * 4096)).toBe(true)
  expect(store.hasRoomFor?.(64 * 4096)).toBe(false)
  expect(readdirSync(folder).filter((name) => name.includes('room'))).toEqual([])
  store.close()
})

test('a full store refuses the write, keeps what it had and goes on serving', async () => {
  const clock = createManualClock()
  const store = openDiskStore({ path: file(), maxBytes: 64 * 4096 })
  const ledger = createLedger({}, { signer, clock, store })
  const outcomes: string[] = []
  for (let n = 0; n < 12; n++) {
    const { settled } = ledger.put('big', `k${n}`, JSON.stringify('x'.repeat(60_000)))
    await clock.advance(20)
    outcomes.push((await settled).state)
  }
  expect(outcomes[0]).toBe('committed')
  expect(outcomes.at(-1)).toBe('refused')
  const held = ledger.snapshot().size
  expect(held).toBe(outcomes.filter((state) => state === 'committed').length)
  ledger.delete('big', 'k0')
  await clock.advance(20)
  expect(ledger.snapshot().getLive('big', 'k0')).toBeUndefined()
  await ledger.stop()
  expect(open(clock).snapshot().digest()).toEqual(ledger.snapshot().digest())
})

const hasLimits = spawnSync('prlimit', ['--version']).status === 0

test.skipIf(!hasLimits)(
  'a log that cannot be written back to the file refuses the next block before it grows, until it can',
  () => {
    const script = join(import.meta.dirname, 'fill-writer.ts')
    // the log stays below it; the file, after some blocks, does not
    const limit = '--fsize=7000000:unlimited'
    const run = spawnSync('prlimit', [limit, process.execPath, '--conditions=mesh-source', script, file()], {
      encoding: 'utf8',
    })
    const [refused, last] = run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(refused).toMatchObject({ error: expect.stringContaining('cannot be used') as string })
    expect(refused?.['logBytes']).toBeLessThan(4.5 * 1024 * 1024)
    expect(last).toEqual({
      index: refused?.['index'],
      isStored: true,
      stored: Number(refused?.['index']) + 1,
    })
    expect(statSync(file()).size).toBeGreaterThan(7_000_000)
  },
)

test('kill -9 at any moment loses nothing acknowledged and corrupts nothing', {
  timeout: 60_000,
}, async () => {
  const seed = 20261121
  const random = createSeededRandom(seed)
  let acknowledged = -1
  for (let round = 0; round < 20; round++) {
    acknowledged = await writeUntilKilled(acknowledged + 1, random.float() * 50)
    const ledger = open()
    const snapshot = ledger.snapshot()
    for (let n = 0; n <= acknowledged; n++) {
      const value = snapshot.getLive('kept', `k${n}`)?.value
      expect(value, `round ${round}, seed ${seed}, k${n}`).toBe(JSON.stringify('x'.repeat(n % 3000)))
    }
    expect(snapshot.count('kept')).toBeLessThanOrEqual(acknowledged + 5)
    await ledger.stop()
  }
  expect(acknowledged).toBeGreaterThan(100)
})

/** Starts the writer, lets it write for a while, kills it; returns the last write that it acknowledged. */
async function writeUntilKilled(start: number, forMs: number): Promise<number> {
  const script = join(import.meta.dirname, 'kill-writer.ts')
  const child = spawn(process.execPath, ['--conditions=mesh-source', script, file(), String(start)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  await eventually(() => expect(output).toContain('\n'), { withinMs: 10_000, everyMs: 1 })
  await new Promise((resolve) => setTimeout(resolve, forMs))
  child.kill('SIGKILL')
  await ended
  return Number(output.trimEnd().split('\n').at(-1) ?? start - 1)
}
