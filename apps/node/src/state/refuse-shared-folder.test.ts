import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLedger } from '../node/open-ledger.ts'
import { currentUser } from './file-owners.ts'
import { createIdentity } from './identity.ts'

const isWindows = currentUser() === undefined
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-shared-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.skipIf(isWindows)('a folder of the ledger below one that others can write to is refused', () => {
  const ledgerState = join(folder, 'ledger')
  mkdirSync(ledgerState)
  chmodSync(folder, 0o777)
  const init = {
    settings: { ledgerState, ledgerMaxBytes: 1024 * 1024, ephemeral: false } as never,
    identity: createIdentity(systemRandom),
    folder,
    trust: undefined,
  }
  expect(() => openLedger(init, { clock: systemClock, log: silentLogger })).toThrow(
    expect.objectContaining({
      code: 'node.state_unusable',
      message: `other users of this machine can write to the folder ${folder}`,
      hint: expect.stringContaining(`chmod go-w ${folder}, or choose another --ledger-state`) as string,
    }),
  )
})
