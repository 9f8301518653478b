import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MeshError, silentLogger, systemRandom } from '@mesh/core'
import { createSeededRandom } from '@mesh/testkit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createIdentity, encodeIdentity, openIdentity } from './identity.ts'
import { findControlSockets, openInstanceFolder } from './instance-folder.ts'
import { acquireInstanceLock } from './instance-lock.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-state-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function refusal(run: () => unknown): MeshError {
  try {
    run()
  } catch (error) {
    if (error instanceof MeshError) return error
    throw error
  }
  return expect.unreachable('was not refused')
}

test('an identity is made once and kept for this user alone', () => {
  const first = openIdentity(folder, systemRandom, silentLogger)
  expect(openIdentity(folder, systemRandom, silentLogger).id).toBe(first.id)
  expect(statSync(join(folder, 'identity')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['identity'])
})

test("the file has libp2p's form of a private key", () => {
  const { seed, publicKey } = openIdentity(folder, createSeededRandom(1), silentLogger)
  const bytes = readFileSync(join(folder, 'identity'))
  expect(bytes.toString('hex')).toBe(
    `08011240${Buffer.from(seed).toString('hex')}${Buffer.from(publicKey).toString('hex')}`,
  )
})

test('an identity that others could read is closed to them', () => {
  const { id } = openIdentity(folder, systemRandom, silentLogger)
  chmodSync(join(folder, 'identity'), 0o644)
  expect(openIdentity(folder, systemRandom, silentLogger).id).toBe(id)
  expect(statSync(join(folder, 'identity')).mode & 0o777).toBe(0o600)
})

test.skipIf(process.getuid?.() !== 0)('an identity of root that others can read is told, and used', () => {
  const { id } = openIdentity(folder, systemRandom, silentLogger)
  chmodSync(join(folder, 'identity'), 0o644)
  chmodSync(folder, 0o755)
  const warnings: string[] = []
  process.seteuid?.(65_534)
  try {
    const log = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
    expect(openIdentity(folder, systemRandom, log).id).toBe(id)
  } finally {
    process.seteuid?.(0)
  }
  expect(warnings).toEqual(['the identity can be read by other users of this machine'])
})

test('a damaged identity is refused and left alone', () => {
  const bytes = encodeIdentity(createIdentity(systemRandom))
  for (const damaged of [
    bytes.subarray(0, 40),
    bytes.with(0, 9),
    bytes.with(67, (bytes[67] ?? 0) ^ 1),
    Uint8Array.of(),
  ]) {
    writeFileSync(join(folder, 'identity'), damaged, { mode: 0o600 })
    expect(refusal(() => openIdentity(folder, systemRandom, silentLogger)).code).toBe('node.bad_identity')
    expect(readFileSync(join(folder, 'identity'))).toEqual(Buffer.from(damaged))
  }
})

test('an identity that is a symbolic link is not followed', () => {
  const elsewhere = join(folder, 'elsewhere')
  writeFileSync(elsewhere, encodeIdentity(createIdentity(systemRandom)), { mode: 0o600 })
  symlinkSync(elsewhere, join(folder, 'identity'))
  expect(refusal(() => openIdentity(folder, systemRandom, silentLogger))).toMatchObject({
    code: 'node.bad_identity',
    message: expect.stringContaining('is a symbolic link') as string,
  })
})

test('a folder that others can write to is refused, saying which and what to type', () => {
  const name = { stateDir: folder, networkId: 'a'.repeat(20), instance: 'node' }
  openInstanceFolder(name).release()
  const network = join(folder, name.networkId)
  for (const shared of [folder, network, join(network, 'node')]) {
    chmodSync(shared, 0o777)
    const error = refusal(() => openInstanceFolder(name))
    expect(error).toMatchObject({ code: 'node.state_unusable' })
    expect(error.hint).toContain(`chmod go-w ${shared},`)
    chmodSync(shared, 0o755)
  }
  openInstanceFolder(name).release()
})

test('a folder in which only owners remove files may hold the folder of a node, and is none itself', () => {
  const name = { stateDir: folder, networkId: 'a'.repeat(20), instance: 'node' }
  openInstanceFolder(name).release()
  const network = join(folder, name.networkId)
  for (const sticky of [folder, network]) chmodSync(sticky, 0o1777)
  openInstanceFolder(name).release()
  chmodSync(join(network, 'node'), 0o1777)
  expect(refusal(() => openInstanceFolder(name)).hint).toContain(`chmod go-w ${join(network, 'node')},`)
})

test('folders above are judged as well, and so are those that symbolic links lead through', () => {
  const above = join(folder, 'above')
  const name = { stateDir: join(above, 'between', 'state'), networkId: 'a'.repeat(20), instance: 'node' }
  openInstanceFolder(name).release()
  const link = join(folder, 'link')
  symlinkSync('above/between', link)
  const names = [name, { ...name, stateDir: join(link, 'state') }]
  for (const shared of [above, join(above, 'between')]) {
    chmodSync(shared, 0o777)
    for (const each of names) {
      const error = refusal(() => openInstanceFolder(each))
      expect(error).toMatchObject({
        code: 'node.state_unusable',
        message: `other users of this machine can write to the folder ${shared}`,
      })
      expect(error.hint).toContain(`chmod go-w ${shared}, or choose another --state-dir`)
    }
    chmodSync(shared, 0o1777)
    for (const each of names) openInstanceFolder(each).release()
    chmodSync(shared, 0o755)
  }
})

test.skipIf(process.getuid?.() !== 0)(
  'a folder above that is of another user is refused, and not to be taken from that user (needs root)',
  () => {
    const above = join(folder, 'above')
    const name = { stateDir: join(above, 'state'), networkId: 'a'.repeat(20), instance: 'node' }
    openInstanceFolder(name).release()
    chownSync(above, 4711, 4711)
    const error = refusal(() => openInstanceFolder(name))
    expect(error.message).toBe(`the folder ${above} belongs to another user of this machine (uid 4711)`)
    expect(error.hint).toMatch(/ledger: choose another --state-dir\.$/)
    vi.stubEnv('SUDO_UID', '4711')
    openInstanceFolder(name).release()
    vi.unstubAllEnvs()
  },
)

test.skipIf(process.getuid?.() !== 0)(
  'a folder, or a link to one, of another user is refused (needs root)',
  () => {
    const name = { stateDir: join(folder, 'state'), networkId: 'a'.repeat(20), instance: 'node' }
    openInstanceFolder(name).release()
    const network = join(name.stateDir, name.networkId)
    for (const foreign of [name.stateDir, network, join(network, 'node')]) {
      chownSync(foreign, 4711, 0)
      const error = refusal(() => openInstanceFolder(name))
      expect(error).toMatchObject({ code: 'node.state_unusable' })
      expect(error.message).toBe(`the folder ${foreign} belongs to another user of this machine (uid 4711)`)
      expect(error.hint).toContain(`chown -h 0 ${foreign},`)
      vi.stubEnv('SUDO_UID', '4711')
      openInstanceFolder(name).release()
      vi.unstubAllEnvs()
      chownSync(foreign, 0, 0)
    }
    const link = join(folder, 'link')
    symlinkSync(name.stateDir, link)
    openInstanceFolder({ ...name, stateDir: link }).release()
    lchownSync(link, 4711, 4711)
    expect(refusal(() => openInstanceFolder({ ...name, stateDir: link })).message).toContain('(uid 4711)')
  },
)

test('an instance belongs to one process; the second is told which, and what to do', () => {
  const name = { stateDir: folder, networkId: 'a'.repeat(20), instance: 'node' }
  const opened = openInstanceFolder(name)
  const error = refusal(() => openInstanceFolder(name))
  expect(error.code).toBe('node.locked')
  expect(error.message).toBe(`the instance "node" is in use by process ${process.pid}`)
  expect(error.hint).toContain('--instance')
  expect(statSync(opened.path).mode & 0o777).toBe(0o700)
  opened.release()
  opened.release()
  openInstanceFolder(name).release()
})

test('a folder in which nothing can be written is refused with what to do, and nobody holds it then', () => {
  const name = { stateDir: folder, networkId: 'a'.repeat(20), instance: 'node' }
  const { path, release } = openInstanceFolder(name)
  release()
  // as root, who may write wherever the system can: a folder where the file is to be
  mkdirSync(join(path, 'pid'))
  const error = refusal(() => openInstanceFolder(name))
  expect(error).toMatchObject({ code: 'node.state_unusable', message: `cannot write ${join(path, 'pid')}` })
  expect(error.hint).toContain('--state-dir')
  rmSync(join(path, 'pid'), { recursive: true })
  openInstanceFolder(name).release()
})

test('a process that was killed leaves no lock behind', async () => {
  const script = `import('${import.meta.dirname}/instance-lock.ts').then((m) => { m.acquireInstanceLock(process.argv[1], 'node'); console.log('held'); setInterval(() => {}, 1e3) })`
  const child = spawn(process.execPath, ['--conditions=mesh-source', '-e', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  expect(refusal(() => acquireInstanceLock(folder, 'node')).message).toContain(`process ${child.pid}`)
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
  acquireInstanceLock(folder, 'node').release()
})

test('an instance that keeps nothing leaves nothing, and takes nothing that others keep', () => {
  const name = { stateDir: folder, networkId: 'a'.repeat(20), instance: 'node' }
  const kept = openInstanceFolder(name)
  const { id } = openIdentity(kept.path, systemRandom, silentLogger)
  kept.release()
  openInstanceFolder(name).release({ remove: true })
  expect(openIdentity(kept.path, systemRandom, silentLogger).id).toBe(id)

  const passing = openInstanceFolder({ ...name, instance: 'passing' })
  passing.release({ remove: true })
  expect(readdirSync(join(folder, name.networkId))).toEqual(['node'])
})

test('a path that no socket can have is refused before anything is made', () => {
  const name = { stateDir: join(folder, 'x'.repeat(90)), networkId: 'a'.repeat(20), instance: 'node' }
  expect(refusal(() => openInstanceFolder(name))).toMatchObject({ code: 'node.state_unusable' })
  expect(readdirSync(folder)).toEqual([])
})

test('finds the control sockets of every network and instance', () => {
  const name = { stateDir: folder, networkId: 'b'.repeat(20), instance: 'second' }
  const { path, release } = openInstanceFolder(name)
  expect(findControlSockets(folder)).toEqual([])
  writeFileSync(join(path, 'control.sock'), '')
  expect(findControlSockets(folder)).toEqual([
    { networkId: name.networkId, instance: 'second', socket: join(path, 'control.sock') },
  ])
  release()
})
