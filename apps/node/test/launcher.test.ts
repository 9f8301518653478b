/** `./mesh` of a checkout, as a person calls it: from other folders, by links, with signals, before it is built. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { eventually } from '@mesh/testkit'
import qrCode from 'qrcode'
import { describe, expect, test } from 'vitest'
import { LOOPBACK_ARGS, makeToken } from './harness.ts'
import { createCleanUps } from './suite.ts'

const ROOT = join(import.meta.dirname, '../../..')
const LAUNCHER = join(ROOT, 'mesh')
const isBuilt = existsSync(join(ROOT, 'apps/node/dist/main.js'))
const suite = isBuilt ? 'the launcher' : 'the launcher (skipped: the node is not built)'

const cleanUps = createCleanUps()

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-launcher-'))
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What a person's shell has, with home in the test's folder. */
function environment(home: string, path = process.env['PATH']): NodeJS.ProcessEnv {
  return { PATH: path, HOME: home }
}

function call(file: string, args: readonly string[], { cwd, env }: { cwd: string; env?: NodeJS.ProcessEnv }) {
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd,
    env: env ?? environment(cwd),
    encoding: 'utf8',
    timeout: 30_000,
  })
  return { status, stdout, stderr }
}

describe.skipIf(!isBuilt)(suite, () => {
  test('runs a command from any folder, by links too, and relative paths count from there', () => {
    const folder = makeFolder()
    mkdirSync(join(folder, 'bin'))
    symlinkSync(LAUNCHER, join(folder, 'direct'))
    symlinkSync('../direct', join(folder, 'bin/mesh'))
    writeFileSync(join(folder, 'net.token'), makeToken(), { mode: 0o600 })
    for (const file of [LAUNCHER, './direct', './bin/mesh']) {
      const { status, stdout } = call(file, ['config', '--token-file', 'net.token'], { cwd: folder })
      expect(status).toBe(0)
      expect(stdout).toMatch(/\b[0-9a-f]{20}\b/)
      expect(stdout).toContain(join(folder, 'net.token'))
    }
  })

  test('hints name the command as the person called it', () => {
    const folder = makeFolder()
    symlinkSync(LAUNCHER, join(folder, 'mesh'))
    const direct = call('./mesh', ['api'], { cwd: folder })
    expect(direct).toMatchObject({ status: 2, stdout: '' })
    expect(direct.stderr).toContain('`./mesh api` needs to know which network')
    expect(direct.stderr).toContain('./mesh -g -b > mesh.token && chmod 600 mesh.token')
    const env = environment(folder, `${folder}:${process.env['PATH']}`)
    const found = call('sh', ['-c', 'mesh api'], { cwd: folder, env })
    expect(found.stderr).toContain('`mesh api` needs to know which network')
  })

  test('exit codes and standard output are those of the command', () => {
    const folder = makeFolder()
    expect(call(LAUNCHER, ['ping', '10.1.0.2'], { cwd: folder }).status).toBe(5)
    const made = call(LAUNCHER, ['-g', '-b'], { cwd: folder })
    expect(made).toMatchObject({ status: 0, stderr: '' })
    expect(made.stdout.trim()).toMatch(/^[A-Za-z0-9+/]+=*$/)
  })

  test('is the process that signals reach', async () => {
    const folder = makeFolder()
    const env = { ...environment(folder), MESHTOKEN: makeToken() }
    const child = spawn(LAUNCHER, ['start', '--ephemeral', ...LOOPBACK_ARGS], { cwd: folder, env })
    cleanUps.push(() => void child.kill('SIGKILL'))
    const output = collect(child)
    const exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)))
    await eventually(() => expect(output()).toContain('host listening'), { withinMs: 30_000 })
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
  })

  test('without a build it says what to run, and where', () => {
    const folder = makeFolder()
    copyFileSync(LAUNCHER, join(folder, 'mesh'))
    chmodSync(join(folder, 'mesh'), 0o755)
    const { status, stderr } = call(join(folder, 'mesh'), ['status'], { cwd: dirname(folder) })
    expect(status).toBe(1)
    expect(stderr).toBe(`mesh: this checkout is not built yet: run \`npm run setup\` in ${folder} first\n`)
  })

  test('a file of secrets that others can read is warned of by name; pipes are not', async () => {
    const folder = makeFolder()
    const file = join(folder, "it's open")
    writeFileSync(file, makeToken(), { mode: 0o644 })
    const open = call(LAUNCHER, ['token', 'show', '--token-file', file], { cwd: folder })
    expect(open.status).toBe(0)
    expect(open.stderr).toContain(`chmod 600 '${folder}/it'\\''s open'`)
    const script = `"${LAUNCHER}" token show --token-file <(cat "${file}")`
    const piped = call('bash', ['-c', script], { cwd: folder })
    expect(piped).toMatchObject({ status: 0, stderr: '', stdout: open.stdout })
    chmodSync(file, 0o600)
    const closed = call(LAUNCHER, ['token', 'show', '--token-file', file], { cwd: folder })
    expect(closed).toMatchObject({ status: 0, stderr: '', stdout: open.stdout })

    chmodSync(file, 0o640)
    const child = spawn(
      LAUNCHER,
      ['start', '--ephemeral', '--log-format=json', '--token-file', file, ...LOOPBACK_ARGS],
      { cwd: folder, env: environment(folder) },
    )
    cleanUps.push(() => void child.kill('SIGKILL'))
    const output = collect(child)
    const exited = new Promise((resolve) => child.once('exit', resolve))
    await eventually(() => expect(output()).toContain('host listening'), { withinMs: 30_000 })
    child.kill('SIGTERM')
    await exited
    expect(output()).toMatch(/"level":"warn","message":"other users of this machine may read [^"]+chmod 600 /)
  })

  test('`token show` prints the token of what is named, whether that is a token or a configuration', () => {
    const folder = makeFolder()
    const config = call(LAUNCHER, ['-g'], { cwd: folder }).stdout
    writeFileSync(join(folder, 'net.yaml'), config, { mode: 0o600 })
    const { stdout: token } = call(LAUNCHER, ['token', 'show', '--config', 'net.yaml'], { cwd: folder })
    const env = { ...environment(folder), MESHTOKEN: token.trim() }
    expect(call(LAUNCHER, ['token', 'show'], { cwd: folder, env }).stdout).toBe(token)
    const [named, other] = [['--config', 'net.yaml'], []].map((args) =>
      call(LAUNCHER, ['config', '--json', ...args], { cwd: folder, ...(args.length === 0 && { env }) }),
    )
    const networkOf = (text = '{}') => (JSON.parse(text) as { network?: string }).network
    expect(networkOf(named?.stdout)).toBe(networkOf(other?.stdout))
    expect(other?.stdout).not.toContain(token.trim())
  })

  test.skipIf(process.platform !== 'linux')('a guest is shown as a QR code on a terminal', async () => {
    const key = 'x'.repeat(44)
    // with addresses of both families and three ranges
    const address = 'Address = 10.1.0.3/32, fd00:1::c28e:123e:b2a6:d24b/128'
    const ranges = 'AllowedIPs = 10.1.0.0/24, fd00:1::/64, fda1:c848:4c3::/64'
    const configuration = `# phone, a guest of a\n[Interface]\nPrivateKey = ${key}\n${address}\nDNS = 10.1.0.1\nMTU = 1280\n\n[Peer]\nPublicKey = ${key}\nPresharedKey = ${key}\n${ranges}\nEndpoint = 203.0.113.18:44985\nPersistentKeepalive = 25\n`
    const guest = { Name: 'phone', Address: '10.1.0.3', Address6: null, PublicKey: '', Endpoint: '' }
    const api = createServer((_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ...guest, Configuration: configuration })),
    )
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
    cleanUps.push(() => api.close())
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
    const folder = makeFolder()
    const words = ['-qec', `"${LAUNCHER}" guest add phone --api-url ${url}`, '/dev/null']
    const child = spawn('script', words, { cwd: folder, env: environment(folder) })
    const output = collect(child)
    const status = await new Promise((resolve) => child.once('close', resolve))
    const shown = output().replaceAll('\r\n', '\n')
    expect(shown).toContain(configuration)
    // black on white, and not wrapped by a terminal of 80 columns
    const [begin, end] = ['\u001b[30;107m', '\u001b[0m']
    const coloured = shown.split('\n').filter((line) => line.startsWith(begin) && line.endsWith(end))
    const lines = coloured.map((line) => line.slice(begin.length, -end.length))
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80)
    const code = { type: 'utf8', errorCorrectionLevel: 'L', margin: 2 } as const
    expect(lines.join('\n')).toBe(await qrCode.toString(configuration, code))
    expect(shown).toContain('Scan the code with a WireGuard app')
    expect(status).toBe(0)
  })
})

function collect(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => (text += part))
  return () => text
}
