/**
 * What `npm run package` makes, where there is no Node: the executable with its page, its addons and a home that cannot be
 * written, and the package for Debian on two systems of its own (`packaging/debian/try.sh` says what it tries).
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOOPBACK_ARGS, makeToken } from './harness.ts'

const ROOT = join(import.meta.dirname, '../../..')
const ADDON = join(ROOT, `packages/engine/npm/linux-${process.arch}-gnu/mesh-engine.node`)
const why =
  process.env['MESH_TEST_BUILD'] !== '1'
    ? 'it packs the build, which is tested where MESH_TEST_BUILD=1 is set'
    : !existsSync(ADDON)
      ? 'the engine is not built'
      : undefined
const suite = why === undefined ? 'what people install' : `what people install (skipped: ${why})`

/** How `try.sh` ends where the machine cannot do it. */
const SKIPPED = 77

/** QUIC and WebRTC are addons. */
const WITH_ADDONS = [
  '--quic',
  ...['quic-v1', 'webrtc-direct'].map((name) => `--listen-maddrs=/ip4/127.0.0.1/udp/0/${name}`),
]

describe.skipIf(why !== undefined)(suite, () => {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-executable-'))
  const mesh = join(folder, `dist/mesh-linux-${process.arch}`)
  const home = join(folder, 'home')
  const env = { PATH: '/nowhere', HOME: home }
  const token = join(folder, 'token')

  function pack(parts: string) {
    const words = ['--only', parts, '--local', '--arch', process.arch, '--dist', join(folder, 'dist')]
    execFileSync(process.execPath, [join(ROOT, 'scripts/package.mjs'), ...words], { stdio: 'pipe' })
    return readFileSync(mesh)
  }

  beforeAll(() => {
    // a file, so that nobody can make folders there, root neither
    writeFileSync(home, '')
    pack('binary')
    writeFileSync(token, makeToken(), { mode: 0o600 })
  }, 60_000)

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('is the same bytes when it is packed again, and names no folder of this machine', () => {
    const before = readFileSync(mesh)
    const again = pack('binary')
    expect(again.equals(before)).toBe(true)
    expect(again.includes(folder)).toBe(false)
    expect(again.includes(ROOT)).toBe(false)
  }, 60_000)

  test('loads its engine, and takes no options of Node from the environment', () => {
    const options = { env: { ...env, NODE_OPTIONS: '--require /nowhere.js' }, encoding: 'utf8' } as const
    const { stdout, stderr } = spawnSync(mesh, ['doctor', '--json'], options)
    expect(stderr).toBe('')
    expect(stdout).not.toContain('engine.no_addon')
  })

  test('serves its page with a home that cannot be written, over all transports', async () => {
    const words = [
      'api',
      '--token-file',
      token,
      '--state-dir',
      join(folder, 'state'),
      ...LOOPBACK_ARGS,
      ...WITH_ADDONS,
    ]
    const node = spawn(mesh, [...words, '--listen', '127.0.0.1:0'], { env })
    const ended = new Promise((resolve) => node.once('exit', resolve))
    let log = ''
    node.stdout.on('data', (text) => (log += text))
    node.stderr.on('data', (text) => (log += text))
    try {
      await eventually(() => expect(log).toContain('all transports listening'), { withinMs: 30_000 })
      const url = /"url":"(http:[^"]+)"/.exec(log)?.[1] ?? ''
      // TCP, QUIC and WebRTC
      expect(log).toContain('"addressCount":3')
      const page = await fetch(url)
      expect(await page.text()).toContain('<div id="root">')
      expect(log).not.toMatch(/"level":"(warn|error)"/)
    } finally {
      node.kill()
      await ended
    }
  }, 60_000)

  test('a package for Debian is installed, carries a network of two, and is purged without a trace', (context) => {
    if (spawnSync('dpkg-deb', ['--version']).status !== 0) return context.skip('dpkg-deb is not installed')
    pack('sbom,deb')
    const file = readdirSync(join(folder, 'dist')).find((name) => name.endsWith('.deb')) ?? ''
    const deb = join(folder, 'dist', file)

    const tried = spawnSync(join(ROOT, 'packaging/debian/try.sh'), [deb], { encoding: 'utf8' })
    if (tried.status === SKIPPED) return context.skip(tried.stdout.trim())
    expect(`${tried.stdout}${tried.stderr}`).toContain('purged: kept the state on a, left nothing on b')
  }, 300_000)
})
