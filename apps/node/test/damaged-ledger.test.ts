/** A node whose ledger's file was damaged on the disk: it starts, says so, and goes on with the copy. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { afterAll, expect, test } from 'vitest'
import { createMesh, makeToken } from './harness.ts'

const mesh = createMesh()
const stateDir = mkdtempSync(join(tmpdir(), 'mesh-damage-'))
afterAll(async () => {
  await mesh.cleanUp()
  rmSync(stateDir, { recursive: true, force: true })
})

test('a damaged ledger is set aside, its copy takes its place, and health says both', async () => {
  const token = makeToken()
  const first = await mesh.start({ token, stateDir })
  await first.client.putJson({ bucket: 'notes', key: 'kept', body: 'v'.repeat(5000), wait: '5s' })
  await first.stop()
  const folder = readdirSync(stateDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('ledger.db'))
    .map((name) => join(stateDir, name, '..'))[0]
  const file = join(folder ?? '', 'ledger.db')
  copyFileSync(file, `${file}.copy`)
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0xff, bytes.indexOf('vvvv'), bytes.indexOf('vvvv') + 10))

  const again = await mesh.start({ token, stateDir })
  await eventually(async () => {
    expect(await again.client.getEntry({ bucket: 'notes', key: 'kept' })).toBe('v'.repeat(5000))
  })
  const { Problems } = await again.client.getHealth()
  expect(Problems.find(({ Code }) => Code === 'ledger.restored')).toMatchObject({
    Severity: 'warning',
    Hint: expect.stringContaining('ledger.db.damaged-') as string,
  })
  expect(readdirSync(folder ?? '').some((name) => name.startsWith('ledger.db.damaged-'))).toBe(true)
})
