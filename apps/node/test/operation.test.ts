/**
 * A node as a service manager runs it: a socket handed over, a notify socket, few file descriptors. One node for all of
 * it; a small program in Python stands for the service manager.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
import { suiteName } from './suite.ts'

/** Few enough to be used up by a test. */
const MAX_FILES = 96
/** The node raises its own limit to this one at its start. */
const MOST_FILES = 4_096
/** Hands over a listening socket as descriptor 3, sets the limit, and becomes the node. */
const PARENT = [
  'import os, resource, socket, sys',
  's = socket.socket()',
  's.bind(("127.0.0.1", 0))',
  's.listen(16)',
  'os.dup2(s.fileno(), 3)',
  'os.set_inheritable(3, True)',
  'resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2)',
  'os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", WATCHDOG_PID=str(os.getpid()))',
  'os.execvp(sys.argv[2], sys.argv[2:])',
].join('\n')
/** Prints what is sent to its socket. */
const NOTIFIED = [
  'import socket, sys',
  's = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)',
  's.bind(sys.argv[1])',
  'print("listening", flush=True)',
  'while True: print(s.recv(4096).decode(), flush=True)',
].join('\n')

const why = ['python3', 'systemd-notify'].find((name) => spawnSync(name, ['--version']).status !== 0)
const mesh = createMesh()
afterAll(() => mesh.cleanUp())

describe.skipIf(why !== undefined)(suiteName('as a service', why && `${why} is not installed`), () => {
  let manager: ChildProcess
  let node: NodeProcess
  let told = ''

  beforeAll(async () => {
    const socket = join(mesh.folder, 'notify')
    manager = spawn('python3', ['-c', NOTIFIED, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
    manager.stdout?.setEncoding('utf8').on('data', (text: string) => (told += text))
    await eventually(() => {
      if (!told.includes('listening')) throw new Error('the notify socket is not there yet')
    })
    node = await mesh.start({
      token: makeToken(),
      prefix: ['python3', '-c', PARENT, String(MOST_FILES)],
      environment: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '3000000' },
      startWithinMs: 60_000,
    })
  })
  afterAll(() => void manager.kill())

  test('serves the API on the socket that was handed over, and tells that it is ready and alive', async () => {
    expect((await node.client.getNode()).PeerID).toBe(node.id)
    await eventually(() => expect(told).toMatch(/^READY=1$/m), { withinMs: 30_000 })
    expect(told).toContain(`STATUS=${node.id} in network`)
    await eventually(() => expect(told.match(/^WATCHDOG=1$/gm)?.length).toBeGreaterThan(1), {
      withinMs: 30_000,
    })
  })

  test('out of file descriptors it says so, goes on, and recovers by itself', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const problems = () => healthOver(agent, node.url)
    expect(await problems()).not.toContain('node.few_files')
    limitFiles(node.pid, MAX_FILES)
    const { hostname, port } = new URL(node.url)
    const held: Socket[] = []
    for (let at = 0; at < MAX_FILES + 20; at++) {
      held.push(connect(Number(port), hostname).on('error', () => {}))
    }
    await eventually(async () => expect(await problems()).toContain('node.few_files'), { withinMs: 30_000 })
    // whoever raises the limit of a node that runs is told that it is well
    limitFiles(node.pid, MOST_FILES)
    expect(await problems()).not.toContain('node.few_files')
    limitFiles(node.pid, MAX_FILES)
    for (const socket of held) socket.destroy()
    await eventually(async () => expect(await problems()).not.toContain('node.few_files'), {
      withinMs: 30_000,
    })
    agent.destroy()
    await node.client.putText({ bucket: 'notes', key: 'after', value: '1', wait: '10s' })
    expect(node.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('tells that it stops, and ends as asked', async () => {
    expect((await node.stop()).code).toBe(0)
    await eventually(() => expect(told).toMatch(/^STOPPING=1$/m))
  })
})

test('a state folder that cannot be written ends the start with what to do', async () => {
  // root may write anywhere but where nothing can be
  const stateDir = process.getuid?.() === 0 ? '/proc/mesh' : join(mesh.makeFolder(), 'read-only')
  if (process.getuid?.() !== 0) {
    mkdirSync(stateDir)
    chmodSync(stateDir, 0o500)
  }
  const args = ['api', '--listen=127.0.0.1:0', '--private', '--no-mdns', `--state-dir=${stateDir}`]
  const { code, stderr } = await mesh.run(args, { environment: { MESHTOKEN: makeToken() } })
  expect([code, stderr]).toEqual([1, expect.stringMatching(/node\.state_unusable[^]*--state-dir/)])
})

/** A user that no file names, as systemd makes one up for a service with `DynamicUser=`. */
const NOBODY_KNOWN = { uid: 63_528, gid: 63_528, env: { PATH: process.env['PATH'] ?? '' } }
const mayBecome = spawnSync(process.execPath, ['-e', '0'], NOBODY_KNOWN).status === 0

test.skipIf(!mayBecome)('starts as a user without a name or a folder', () => {
  const main = join(import.meta.dirname, '../src/main.ts')
  const run = (...argv: string[]) =>
    spawnSync(process.execPath, ['--conditions=mesh-source', main, ...argv], {
      ...NOBODY_KNOWN,
      encoding: 'utf8',
    })
  expect(run('--version')).toMatchObject({ status: 0, stderr: '' })
  expect(run('api')).toMatchObject({ status: 2, stderr: expect.stringContaining('node.no_network') })
})

function limitFiles(pid: number, files: number): void {
  const program = `import resource; resource.prlimit(${pid}, resource.RLIMIT_NOFILE, (${files}, ${MOST_FILES}))`
  expect(spawnSync('python3', ['-c', program]).status).toBe(0)
}

/** The codes of the node's problems, asked over one connection that is kept. */
async function healthOver(agent: Agent, url: string): Promise<readonly string[]> {
  const asked = request(`${url}/api/health`, { agent, timeout: 10_000 }).end()
  const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage]
  let text = ''
  for await (const part of answer.setEncoding('utf8')) text += String(part)
  const { Problems } = JSON.parse(text) as { readonly Problems: readonly { readonly Code: string }[] }
  return Problems.map(({ Code }) => Code)
}
