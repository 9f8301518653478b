/** A pool of services, as LocalAI makes it: workers renew their entries, and a client reaches any live one of them. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
import { createCleanUps } from './suite.ts'

const cleanUps = createCleanUps()
const until = 'all transports listening'
const LISTEN = '127.0.0.1:44050'

/** A local program that answers with its name. */
async function startProgram(name: string): Promise<string> {
  const server: Server = createServer((_, answer) => void answer.end(name))
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  cleanUps.push(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a node is a member of a pool while it runs, and a client reaches any live member of it', async () => {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  const token = makeToken()
  const client = await mesh.start({ token, until })
  const args = [`--discovery-bootstrap-peers=${client.addresses[0]}`]
  const runOn = (node: NodeProcess, ...words: readonly string[]) =>
    mesh.run(words, { environment: { MESHSTATEDIR: node.stateDir } })
  const startWorker = async (name: string) => {
    const node = await mesh.start({ token, args, until })
    expect(await runOn(node, 'service-add', name, await startProgram(name))).toMatchObject({ code: 0 })
    const value = JSON.stringify({ Name: name, ID: `box-${name}` })
    const put = ['ledger', 'put', 'worker', name, value, '--keep', '5s', '--field', 'LastSeen=now']
    expect(await runOn(node, ...put)).toMatchObject({ code: 0, stderr: '' })
    return node
  }
  const names = ['kqzvbnmwxy', 'plmoknijbu']
  const workers = await Promise.all(names.map(startWorker))
  const pool = async () =>
    (await client.client.getBucket({ bucket: 'worker' })) as Record<string, { LastSeen: string }>
  await eventually(async () => expect(Object.keys(await pool()).toSorted()).toEqual(names))
  const before = (await pool())[names[0] ?? '']?.LastSeen ?? ''
  expect(Math.abs(Date.parse(before) - Date.now())).toBeLessThan(20_000)
  await eventually(async () => expect((await pool())[names[0] ?? '']?.LastSeen).not.toBe(before), {
    withinMs: 15_000,
  })

  expect(await runOn(client, 'service-connect', '--bucket', 'worker', LISTEN)).toMatchObject({ code: 0 })
  const ask = async () => (await fetch(`http://${LISTEN}/`, { signal: AbortSignal.timeout(5_000) })).text()
  let reached = ''
  await eventually(async () => expect(names).toContain((reached = await ask())), { withinMs: 15_000 })
  const [at, rest] = reached === names[0] ? [0, 1] : [1, 0]
  await workers[at]?.kill()
  await eventually(async () => expect(await ask()).toBe(names[rest]), { withinMs: 30_000 })

  const other = workers[rest]
  if (other === undefined) throw new Error('there is no other worker')
  expect(await other.client.listKeptWrites()).toMatchObject([{ Key: names[rest], EverySeconds: 5 }])
  await other.stop()
  await eventually(async () => expect(await pool()).not.toHaveProperty(names[rest] ?? ''))
})
