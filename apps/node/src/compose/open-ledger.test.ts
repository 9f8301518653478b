import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { currentUser } from '../files/file-owners.ts'
import { createIdentity } from '../state/identity.ts'
import { openLedger } from './open-ledger.ts'

let folder = ''
const isWindows = currentUser() === undefined
const identity = createIdentity(systemRandom)
const place = () => join(folder, 'state')
const disk = () => join(folder, 'disk')
const open = () =>
  openLedger(
    {
      settings: { ledgerMaxBytes: 1024 * 1024, ephemeral: false } as never,
      identity,
      folder: place(),
      trust: undefined,
    },
    { clock: systemClock, log: silentLogger },
  )

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-open-ledger-'))
  for (const made of [place(), disk()]) mkdirSync(made, { mode: 0o700 })
  writeFileSync(join(disk(), 'moved.db'), '', { mode: 0o600 })
  symlinkSync(join(disk(), 'moved.db'), join(place(), 'ledger.db'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.skipIf(isWindows)(
  'a file that a link leads to is checked with the log beside it, and sets aside beside it what is broken',
  async () => {
    const { ledger } = open()
    for (const text of ['kept', 'and more']) {
      const { state } = await ledger.put('notes', text, JSON.stringify(text)).settled
      expect(state).toBe('committed')
    }
    // as kill -9 leaves them: the file, and the log with both entries
    const [file, log] = ['moved.db', 'moved.db-wal'].map((name) => readFileSync(join(disk(), name)))
    await ledger.stop()
    expect(log?.length).toBeGreaterThan(4096)
    writeFileSync(join(disk(), 'moved.db'), file ?? '')
    const broken = Buffer.from(log ?? '')
    const at = broken.indexOf('kept')
    broken.write('KEPT', at)
    writeFileSync(join(disk(), 'moved.db-wal'), broken)

    const { ledger: back } = open()
    expect(back.snapshot().get('notes', 'kept')).toBeUndefined()
    await back.stop()
    expect(readdirSync(disk()).some((name) => name.startsWith('moved.db.damaged-'))).toBe(true)
    expect(readdirSync(place())).toEqual(['ledger.db'])
  },
)

test.skipIf(isWindows)(
  'a file in a folder that others can write to is refused where a link leads there, too',
  () => {
    chmodSync(disk(), 0o777)
    expect(open).toThrow(
      expect.objectContaining({
        code: 'node.state_unusable',
        message: `other users of this machine can write to the folder ${disk()}`,
      }),
    )
  },
)
