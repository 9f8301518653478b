import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLedger } from '../compose/open-ledger.ts'
import { currentUser } from './file-owners.ts'
import { createIdentity } from '../state/identity.ts'
import { refuseSharedFolder } from './refuse-shared-folder.ts'

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

/** A folder as a volume of Kubernetes is: root's, its group's to write, and so are those that are made in it. */
function volume(mode: number, gid: number): string {
  chownSync(folder, 0, gid)
  chmodSync(folder, mode)
  return folder
}

/** The start of a node as another user, whose effective ids are those of this process for as long. */
function startAs(uid: number, gid: number, named: string): unknown {
  process.setegid?.(gid)
  process.seteuid?.(uid)
  try {
    refuseSharedFolder(named, { named, flag: '--state-dir' })
    return 'started'
  } catch (error) {
    return error
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}

const noRoot = process.getuid?.() === 0 ? '' : ' (skipped: another user needs root)'

test.skipIf(noRoot !== '')(`a volume of a group is the folder of a node of that group alone${noRoot}`, () => {
  const named = volume(0o2775, 4711)
  for (const uid of [0, 1000]) {
    expect(startAs(uid, 4711, named)).toBe('started')
    for (const gid of [0, 1000]) {
      expect(startAs(uid, gid, named)).toMatchObject({
        code: 'node.state_unusable',
        message: `users of group 4711 of this machine can write to the folder ${named}`,
        hint: expect.stringContaining('`runAsGroup: 4711` beside `fsGroup: 4711`') as string,
      })
    }
  }
})

test.skipIf(noRoot !== '')(`what is typed for a volume of all lets the node start${noRoot}`, () => {
  const named = volume(0o2777, 4711)
  for (const uid of [0, 1000]) {
    volume(0o2777, 4711)
    const { hint } = startAs(uid, 4711, named) as { hint: string }
    expect(hint).not.toContain('runAsGroup')
    const typed = / ledger: (.*), or choose/.exec(hint)?.[1] ?? ''
    expect(spawnSync('sh', ['-c', typed]).status).toBe(0)
    expect(statSync(named)).toMatchObject({ uid, mode: 0o42755 })
    expect(startAs(uid, 4711, named)).toBe('started')
  }
})
