/** Two machines with one identity, as after a machine was cloned or a backup restored, and what all nodes say of it. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
import { createCleanUps } from './suite.ts'

const cleanUps = createCleanUps()
const until = 'all transports listening'

const problemsOf = async ({ control }: NodeProcess) => {
  const { Problems } = await control.getHealth()
  return Problems.filter(({ Code }) => Code.startsWith('node.identity_shared'))
}

// the nodes compare their entries only after both wrote: on a busy machine that may come too late for one run
test('a cloned machine is told on both and on other nodes, a restart is not, and the hint gives it an identity of its own', {
  retry: 1,
}, async () => {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  const token = makeToken()
  const hub = await mesh.start({ token, until })
  const by = ({ addresses }: NodeProcess) => [`--discovery-bootstrap-peers=${addresses[0]}`]
  const first = await mesh.start({ token, args: by(hub), until })
  await eventually(async () =>
    expect(await hub.client.getBucket({ bucket: 'healthcheck' })).toHaveProperty(first.id),
  )
  await first.stop()
  const original = await mesh.start({ token, args: by(hub), until, stateDir: first.stateDir })
  const copied = join(mesh.makeFolder(), 'state')
  cpSync(original.stateDir, copied, { recursive: true, filter: (path) => !/lock|\.sock/.test(path) })
  const copy = await mesh.start({ token, args: by(hub), until, stateDir: copied })
  expect([original.id, copy.id]).toEqual([first.id, first.id])
  const heartbeat = async ({ control }: NodeProcess) =>
    (await control.getBucket({ bucket: 'healthcheck' }))[first.id]
  await eventually(async () => expect(await heartbeat(hub)).toBe(await heartbeat(copy)))
  // who brings one of the two what the other wrote makes it ask at once, in place of within a minute
  const bringNews = (to: NodeProcess) => mesh.start({ token, args: [...by(hub), ...by(to)], until })
  const isAsked = async () =>
    expect(await hub.control.getBucket({ bucket: 'identities' })).toHaveProperty(first.id)
  // the news counts where the other one wrote later than the one that is brought it
  await eventually(
    async () => {
      await Promise.all([bringNews(original), bringNews(copy)])
      await eventually(isAsked, { withinMs: 8_000 })
    },
    { withinMs: 100_000 },
  )
  await bringNews(copy)
  await eventually(
    async () => {
      for (const node of [original, copy]) {
        expect(await problemsOf(node)).toMatchObject([{ Code: 'node.identity_shared', Severity: 'error' }])
      }
      expect(await problemsOf(hub)).toMatchObject([{ Code: 'node.identity_shared_elsewhere' }])
    },
    { withinMs: 60_000 },
  )
  const environment = { MESHSTATEDIR: copied, MESHTOKEN: token }
  const status = await mesh.run(['status'], { environment })
  const doctor = await mesh.run(['doctor'], { environment })
  const file = /`rm ([^`]+identity)`/.exec(status.stdout)?.[1] ?? ''
  expect(file.startsWith(copied)).toBe(true)
  expect(doctor.stdout).toContain(`rm ${file}`)
  expect(copy.lines.map(({ message }) => message)).toContain('another process uses the identity of this node')
  expect(hub.lines.map(({ message }) => message)).toContain('two processes use the identity of one member')
  await copy.stop()
  rmSync(file)
  const renewed = await mesh.start({ token, args: by(hub), until, stateDir: copied })
  expect(renewed.id).not.toBe(original.id)
})
