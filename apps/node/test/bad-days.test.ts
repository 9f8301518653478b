/** Bad days of a machine that a node lives on: output that nobody takes, files that are removed underneath, a terminal that closes. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, truncateSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { afterAll, expect, test } from 'vitest'
import { commandWords, createMesh, LOOPBACK_ARGS, makeToken } from './harness.ts'

const mesh = createMesh()
afterAll(() => mesh.cleanUp())

const why = existsSync('/dev/full') ? '' : ' (skipped: there is no /dev/full)'

test.skipIf(why !== '')(
  `a node whose output goes to a full disk runs on, and ends as asked${why}`,
  async () => {
    const stateDir = mesh.makeFolder()
    const args = ['api', '--listen=127.0.0.1:0', `--state-dir=${stateDir}`, ...LOOPBACK_ARGS]
    const child = spawn('sh', ['-c', 'exec "$@" >/dev/full 2>&1', 'sh', ...commandWords(), ...args], {
      env: { PATH: process.env['PATH'], HOME: mesh.folder, MESHTOKEN: makeToken() },
      stdio: 'ignore',
    })
    const exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)))
    try {
      await eventually(
        async () => {
          expect(child.exitCode).toBeNull()
          expect((await mesh.run(['status', `--state-dir=${stateDir}`])).code).toBe(0)
        },
        { withinMs: 30_000 },
      )
      child.kill('SIGTERM')
      expect(await exited).toBe(0)
    } finally {
      child.kill('SIGKILL')
    }
  },
)

test.skipIf(why !== '')(`a command whose output goes to a full disk says so${why}`, async () => {
  const prefix = ['sh', '-c', 'exec "$@" >/dev/full', 'sh']
  const { code, stderr } = await mesh.run(['help', '--all'], { prefix })
  expect([code, stderr]).toEqual([1, expect.stringContaining('the output could not be written: ENOSPC')])
})

test('a node that closes what it took is told apart from none', async () => {
  const stateDir = mesh.makeFolder()
  const folder = join(stateDir, 'a'.repeat(20), 'node')
  mkdirSync(folder, { recursive: true })
  // as libuv does in a process without a free file descriptor
  const server = createServer((socket) => socket.destroy())
  server.listen(join(folder, 'control.sock'))
  await once(server, 'listening')
  try {
    const { code, stderr } = await mesh.run(['status', `--state-dir=${stateDir}`])
    expect([code, stderr]).toEqual([5, expect.stringMatching(/a node is there[^]*file descriptor/)])
  } finally {
    server.close()
  }
})

test('a token that was changed underneath is told by who asks with it', async () => {
  const node = await mesh.start({ token: makeToken() })
  const args = ['status', `--state-dir=${node.stateDir}`]
  const { code, stderr } = await mesh.run(args, { environment: { MESHTOKEN: makeToken() } })
  expect([code, stderr]).toEqual([5, expect.stringContaining('leave out the token to ask it')])
  expect((await mesh.run(args)).code).toBe(0)
  await node.stop()
  const none = await mesh.run(args, { environment: { MESHTOKEN: makeToken() } })
  expect(none.stderr).toContain('no node is running here')
})

test('a state folder that is moved away underneath is told by health and readiness until it is back', async () => {
  const node = await mesh.start({ token: makeToken(), until: 'all transports listening' })
  const codes = async () => (await node.client.getHealth()).Problems.map(({ Code }) => Code)
  const readiness = async () => (await fetch(`${node.url}/readyz`)).status
  await eventually(async () => expect(await readiness()).toBe(200))
  expect(await codes()).not.toContain('node.state_gone')
  const away = join(mesh.folder, 'away')
  renameSync(node.stateDir, away)
  expect(await codes()).toContain('node.state_gone')
  expect(await readiness()).toBe(503)
  renameSync(away, node.stateDir)
  expect(await codes()).not.toContain('node.state_gone')
  expect(await readiness()).toBe(200)
  expect((await node.stop()).code).toBe(0)
})

test('files of the state folder that are removed, replaced or cut short underneath are told', async () => {
  const token = makeToken()
  const node = await mesh.start({ token, until: 'all transports listening' })
  const codes = async () => (await node.client.getHealth()).Problems.map(({ Code }) => Code)
  await node.client.putText({ bucket: 'notes', key: 'a', value: '1', wait: '5s' })
  const file = (name: string) => join(dirname(node.controlSocket), name)
  const [identity, ledger] = [file('identity'), file('ledger.db')]
  for (const path of [identity, ledger]) {
    renameSync(path, `${path}.away`)
    expect(await codes()).toContain('node.state_gone')
    renameSync(`${path}.away`, path)
    expect(await codes()).not.toContain('node.state_gone')
  }
  renameSync(ledger, `${ledger}.away`)
  copyFileSync(`${ledger}.away`, ledger)
  expect(await codes()).toContain('node.state_gone')
  renameSync(`${ledger}.away`, ledger)
  truncateSync(ledger)
  expect(await codes()).toContain('node.state_gone')
  await node.kill()
  // the log is still there, and is not taken for a whole ledger
  const again = await mesh.start({ token, stateDir: node.stateDir })
  expect((await again.client.getHealth()).Problems.map(({ Code }) => Code)).toContain('ledger.restored')
  await again.stop()
})

/** Runs its words on a terminal of their own, which closes when this program ends; prints their process. */
const TERMINAL = [
  'import os, pty, sys',
  'pid, master = pty.fork()',
  'if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])',
  'print(pid, flush=True)',
  'while os.read(master, 65536): pass',
].join('\n')
const noPython =
  spawnSync('python3', ['--version']).status === 0 ? '' : ' (skipped: python3 is not installed)'

test.skipIf(noPython !== '')(`a node ends with its terminal${noPython}`, async () => {
  const stateDir = mesh.makeFolder()
  const args = ['api', '--listen=127.0.0.1:0', `--state-dir=${stateDir}`, ...LOOPBACK_ARGS]
  const terminal = spawn('python3', ['-c', TERMINAL, ...commandWords(), ...args], {
    env: { PATH: process.env['PATH'], HOME: mesh.folder, MESHTOKEN: makeToken() },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(terminal.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  const status = async () => (await mesh.run(['status', `--state-dir=${stateDir}`])).code
  try {
    await eventually(async () => expect(await status()).toBe(0), { withinMs: 30_000 })
    terminal.kill('SIGKILL')
    await eventually(() => expect(isThere(pid)).toBe(false), { withinMs: 10_000 })
    expect(readdirSync(stateDir, { recursive: true })).not.toContainEqual(expect.stringMatching(/pid$/))
  } finally {
    terminal.kill('SIGKILL')
    if (isThere(pid)) process.kill(pid, 'SIGKILL')
  }
})

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
