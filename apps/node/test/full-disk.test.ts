/** A node whose disk is full: a file system of 3 MiB in memory, filled to the last byte. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { afterAll, expect, test } from 'vitest'
import { createMesh, makeToken } from './harness.ts'

const mesh = createMesh()
const disk = mkdtempSync(join(tmpdir(), 'mesh-disk-'))
const run = (...argv: [string, ...string[]]) => spawnSync(argv[0], argv.slice(1), { encoding: 'utf8' })
const mounted =
  process.getuid?.() === 0 && run('mount', '-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk).status === 0
const why = mounted ? '' : ' (skipped: mounting a file system needs root)'

afterAll(async () => {
  await mesh.cleanUp()
  if (mounted) run('umount', disk)
  rmSync(disk, { recursive: true, force: true })
})

test.skipIf(!mounted)(`a full disk is told by health and readiness, and passes by itself${why}`, async () => {
  const node = await mesh.start({ token: makeToken(), stateDir: disk })
  const write = (key: string) =>
    node.client.putJson({ bucket: 'notes', key, body: 'x'.repeat(60_000), wait: '5s' })
  const readiness = async () => (await fetch(`${node.url}/readyz`)).status
  await write('first')
  await eventually(async () => expect(await readiness()).toBe(200))

  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize))
  for (const key of ['a', 'b', 'c'])
    await expect(write(key)).rejects.toMatchObject({ code: 'ledger.store_failed' })
  const health = await node.client.getHealth()
  expect(health).toMatchObject({
    Status: 'error',
    Problems: expect.arrayContaining([
      expect.objectContaining({ Code: 'ledger.not_stored', Severity: 'error' }),
    ]) as unknown,
  })
  expect(await readiness()).toBe(503)
  expect((await fetch(`${node.url}/healthz`)).status).toBe(200)
  expect(node.lines.filter(({ message }) => message === 'blocks are not stored')).toHaveLength(1)

  rmSync(join(disk, 'filler'))
  await eventually(async () => expect(await readiness()).toBe(200), { withinMs: 10_000 })
  await write('b')
  expect((await node.client.getHealth()).Problems.map(({ Code }) => Code)).not.toContain('ledger.not_stored')
  expect(Object.keys(await node.client.getBucket({ bucket: 'notes' })).toSorted()).toEqual(['b', 'first'])
})

test.skipIf(!mounted)(`a disk with room for small writes and for no large one is full${why}`, async () => {
  rmSync(join(disk, 'filler'), { force: true })
  const node = await mesh.start({ token: makeToken(), stateDir: disk })
  const write = (key: string, bytes: number) =>
    node.client.putJson({ bucket: 'notes', key, body: 'x'.repeat(bytes), wait: '5s' })
  const codes = async () => (await node.client.getHealth()).Problems.map(({ Code }) => Code)
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize - 16 * 1024))
  await expect(write('large', 60_000)).rejects.toMatchObject({ code: 'ledger.store_failed' })
  for (const key of ['a', 'b']) await write(key, 1).catch(() => {})
  // longer than the pause between two tries of the store
  await neverWithin(6_000, async () => expect(await codes()).not.toContain('ledger.not_stored'))
  expect((await fetch(`${node.url}/readyz`)).status).toBe(503)
  const status = await mesh.run(['status', `--api-url=${node.url}`])
  expect(status.stdout).toContain('The ledger is not stored')
  const doctor = await mesh.run(['doctor', `--api-url=${node.url}`, `--state-dir=${disk}`])
  expect(doctor.stdout).toMatch(/fail +state .*ENOSPC/i)

  rmSync(join(disk, 'filler'))
  await eventually(async () => expect(await codes()).not.toContain('ledger.not_stored'), {
    withinMs: 10_000,
  })
  await write('large', 60_000)
})

/** Fails when the check passes once within the time. */
async function neverWithin(ms: number, check: () => Promise<void>): Promise<void> {
  await expect(eventually(check, { withinMs: ms, everyMs: 100 })).rejects.toThrow('not_stored')
}
