/** Access rules on real processes: signed by the command line, heard by members, kept over restarts. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createMesh, makeToken, type Mesh, type NodeProcess } from './harness.ts'
import { createCleanUps } from './suite.ts'

const SOON = { withinMs: 20_000, everyMs: 50 }
const cleanUps = createCleanUps()

function newMesh(): Mesh {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  return mesh
}

const bootstrapOf = ({ addresses }: NodeProcess) =>
  `--discovery-bootstrap-peers=${addresses.find((each) => each.includes('/tcp/') && !each.includes('/ws')) ?? ''}`

const POLICY = `
groups: { ops: [laptop-1] }
tags: { db: [db-1] }
allow:
  - { from: [group:ops], to: [tag:db], on: [tcp:5432, files] }
tests:
  - { from: laptop-1, to: db-1, on: tcp:5432, expect: allow }
  - { from: db-1, to: laptop-1, on: tcp:22, expect: refuse }
`

test('a policy is checked, signed, heard by members, edited, and in force again after a restart', async () => {
  const mesh = newMesh()
  const tokenFile = join(mesh.folder, 'token')
  const [homeState, farState] = [mesh.makeFolder(), mesh.makeFolder()]
  writeFileSync(tokenFile, makeToken(), { mode: 0o600 })
  const made = await mesh.run(['admin', 'init', `--token-file=${tokenFile}`, `--state-dir=${homeState}`])
  const token = made.stdout.trim()
  const home = await mesh.start({ token, stateDir: homeState, args: ['--name=laptop-1'] })
  const { Code: code } = await home.client.createInvite({ body: {} })
  const far = await mesh.start({
    token,
    stateDir: farState,
    args: [bootstrapOf(home), `--invite=${code}`, '--name=db-1'],
  })
  await eventually(async () => {
    const { Members } = await home.client.getAdmission()
    expect(Members).toContainEqual(
      expect.objectContaining({ PeerID: far.id, Name: 'db-1', State: 'admitted' }),
    )
  }, SOON)
  const rules = (node: NodeProcess, args: readonly string[], options = {}) =>
    mesh.run(['rules', ...args, `--api-url=${node.url}`], options)

  const wrong = await rules(home, ['check', '-'], { input: POLICY.replace('[db-1]', '[db1]') })
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/tags\.db\[0\].*did you mean db-1/)])
  const failing = POLICY.replace('expect: refuse', 'expect: allow')
  const failed = await rules(home, ['set', '-'], { input: failing })
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('[trust.tests_failed]')])
  expect(failed.stdout).toContain('failed: db-1 may not reach laptop-1 on tcp 22: no rule allows it')
  const denied = await rules(far, ['set', '-', '--force'], { input: POLICY })
  expect([denied.code, denied.stderr]).toEqual([1, expect.stringContaining('[trust.no_admin_key]')])

  const set = await rules(home, ['set', '-'], { input: POLICY })
  expect({ ...set, stdout: '' }).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(set.stdout).toMatch(/2 of 2 tests pass/)
  expect(set.stdout).toMatch(/db-1 +laptop-1 +everything +nothing/)
  expect(set.stdout).toMatch(/laptop-1 +db-1 +everything +files tcp:5432/)
  const serialAt = async (node: NodeProcess) => (await node.client.getRules()).Network?.Serial
  await eventually(async () => expect(await serialAt(far)).toBe(1), { withinMs: 2_000, everyMs: 20 })

  const tested = await rules(far, ['test', 'db-1', 'laptop-1', 'tcp:22'])
  expect(tested).toEqual({
    code: 1,
    stdout: 'db-1 may not reach laptop-1 on tcp 22: no rule allows it\n',
    stderr: '',
  })
  expect((await rules(far, ['who', 'db-1'])).stdout).toMatch(/laptop-1 +files tcp:5432\n$/)
  const shown = await rules(home, ['show'])
  expect((await rules(home, ['check', '-'], { input: shown.stdout })).stdout).toContain('It changes nothing')

  const editor = join(mesh.folder, 'editor.sh')
  writeFileSync(editor, '#!/bin/sh\nsed -i "s/tcp:5432, files/tcp:5432/" "$1"\n')
  chmodSync(editor, 0o755)
  const edited = await rules(home, ['edit'], { environment: { EDITOR: editor } })
  expect(edited).toMatchObject({ code: 0, stdout: expect.stringContaining('Policy 2 is signed') })
  await eventually(async () => expect(await serialAt(far)).toBe(2), { withinMs: 2_000, everyMs: 20 })

  await Promise.all([far.kill(), home.stop()])
  const back = await mesh.start({ token, stateDir: farState, args: ['--name=db-1'] })
  expect(await serialAt(back)).toBe(2)
  expect(await back.client.getMetrics()).toContain('mesh_rules_serial 2')
}, 60_000)

test('a node has rules of its own by peer ids, and goes on with the last good ones', async () => {
  const mesh = newMesh()
  const file = join(mesh.folder, 'rules.yaml')
  const other = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
  writeFileSync(file, 'allow: [{ from: [laptop-1], to: ["*"], on: [files] }]')
  const token = makeToken()
  const refused = await mesh.run(['api', `--rules=${file}`, '--listen=127.0.0.1:0'], {
    environment: { MESHTOKEN: token },
  })
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('[node.bad_rules]')])

  writeFileSync(file, `allow: [{ from: [${other}], to: ["*"], on: [files] }]`)
  const node = await mesh.start({ token, args: [`--rules=${file}`, '--name=here'] })
  const mayReach = async (on: string) =>
    (await node.client.testRules({ from: other, to: 'here', on })).Allowed
  expect([await mayReach('files'), await mayReach('egress')]).toEqual([true, false])
  writeFileSync(file, `allow: [{ from: [${other}], to: ["*"], on: [egress, service:shop] }]`)
  await eventually(async () => expect(await mayReach('egress')).toBe(true), { withinMs: 3_000, everyMs: 50 })
  expect(await mayReach('files')).toBe(false)
  writeFileSync(file, 'allow: [')
  await eventually(async () => {
    const { Problems } = await node.client.getHealth()
    expect(Problems).toContainEqual(expect.objectContaining({ Code: 'rules.not_read', Severity: 'error' }))
  }, SOON)
  expect(await mayReach('egress')).toBe(true)
})
