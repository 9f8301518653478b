import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@mesh/core'
import { createLedger } from '@mesh/ledger'
import { createNodeSigner, openDiskStore } from '@mesh/ledger/node'
import { createManualClock, eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createLedgerKeeper } from './ledger-keeper.ts'

test('a copy that could not be made is tried again as soon as its problem says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-keeper-'))
  const store = openDiskStore({ path: join(folder, 'ledger.db') })
  const ledger = createLedger({}, { signer: createNodeSigner(new Uint8Array(32).fill(1)), store })
  let tries = 0
  const failing = Object.assign(Object.create(store) as typeof store, {
    location: store.location,
    onDamaged: () => {},
    copyTo: () => {
      tries++
      return Promise.reject(new Error('the disk is full'))
    },
  })
  const clock = createManualClock()
  const keeper = createLedgerKeeper(
    { store: failing, ledger, damage: undefined },
    { clock, log: silentLogger },
  )
  try {
    await clock.advance(30_000)
    await eventually(() => expect(keeper.problems()).toHaveLength(1))
    const [problem] = keeper.problems()
    expect(problem).toMatchObject({ code: 'ledger.not_copied', severity: 'warning' })
    expect(problem?.hint).toContain('every two minutes')
    expect(tries).toBe(1)
    await clock.advance(120_000)
    await eventually(() => expect(tries).toBe(2))
  } finally {
    await ledger.stop()
    await keeper.stop()
    rmSync(folder, { recursive: true })
  }
})
