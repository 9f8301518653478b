/** Folders between real nodes arrive whole, or both sides name what did not. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMesh, makeToken, type Mesh, type NodeProcess } from './harness.ts'
import { suiteName } from './suite.ts'

const ODD_NAMES = ['Makefile', 'makefile', 'aux.c', 'caf\u00e9', 'cafe\u0301', 'a\nb', 'a\\b', 'a:b']
const RAW_NAME = Buffer.from([0x72, 0xff, 0xe9])
const HOLE_BYTES = 48 * 2 ** 20

const token = makeToken()
let mesh: Mesh
let source: string
let growing: string
let sender: NodeProcess
/** A node that commands of a person ask. */
let node: NodeProcess

beforeAll(async () => {
  mesh = createMesh()
  source = join(mesh.makeFolder(), 'project')
  mkdirSync(join(source, 'docs'), { recursive: true })
  mkdirSync(join(source, 'Docs'))
  for (const name of ODD_NAMES) writeFileSync(join(source, name), name)
  for (const name of ['docs', 'Docs']) writeFileSync(join(source, name, 'index'), name)
  writeFileSync(Buffer.concat([Buffer.from(`${source}/`), RAW_NAME]), 'raw')
  const sparse = openSync(join(source, 'disk.img'), 'w')
  ftruncateSync(sparse, HOLE_BYTES)
  closeSync(sparse)
  const linked = join(mesh.makeFolder(), 'linked')
  mkdirSync(linked)
  symlinkSync('/etc/passwd', join(linked, 'latest'))
  growing = join(mesh.makeFolder(), 'app.log')
  writeFileSync(growing, 'start\n')
  sender = await mesh.start({
    command: 'start',
    token,
    args: [`--file-send=project=${source},linked=${linked},log=${growing}`],
    until: 'all transports listening',
  })
  const bootstrap = `--discovery-bootstrap-peers=${sender.addresses[0]}`
  node = await mesh.start({ token, args: [bootstrap], until: 'all transports listening' })
})
afterAll(() => mesh.cleanUp())

const receive = (name: string, destination: string, args: readonly string[] = []) =>
  mesh.run(['file-receive', name, destination, ...args], { environment: { MESHSTATEDIR: node.stateDir } })

const namesIn = (folder: string) => readdirSync(folder, { encoding: 'latin1' }).toSorted()

test('a folder arrives with every name byte for byte, and its holes', async () => {
  const inbox = mesh.makeFolder()
  const received = await receive('project', `${inbox}/`)
  expect(received).toMatchObject({ code: 0 })
  const copy = join(inbox, 'project')
  expect(namesIn(copy)).toEqual(namesIn(source))
  expect(readdirSync(join(copy, 'Docs'))).toEqual(['index'])
  const { size, blocks } = lstatSync(join(copy, 'disk.img'))
  expect(size).toBe(HOLE_BYTES)
  expect(blocks * 512).toBeLessThan(2 ** 20)
})

test('a link is named as left out at both sides, and the command ends with 7', async () => {
  const inbox = mesh.makeFolder()
  const received = await receive('linked', `${inbox}/`)
  expect([received.code, received.stderr]).toEqual([
    7,
    expect.stringContaining('1 entry did not arrive:\n  latest: a link\n'),
  ])
  const again = await receive('linked', `${mesh.makeFolder()}/`, ['--json'])
  expect(again.code).toBe(7)
  expect(JSON.parse(again.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    LeftOut: 1,
    LeftOutNames: ['latest: a link'],
  })
  expect(await sender.client.getNodeFile({ name: 'linked' })).toMatchObject({
    LeftOut: 1,
    LeftOutNames: ['latest: a link'],
  })
})

test('a file that changes all the time ends with its reason after three tries', async () => {
  const writer = setInterval(() => appendFileSync(growing, 'more\n'), 5)
  try {
    const received = await receive('log', `${mesh.makeFolder()}/`)
    expect(received.code).toBe(1)
    expect(received.stderr).toContain('app.log changed 3 times while it came')
    expect(received.stderr).toContain('mesh file-receive log')
  } finally {
    clearInterval(writer)
  }
})

const whySkipped =
  process.geteuid?.() !== 0 || spawnSync('which', ['lowntfs-3g', 'mkntfs']).status !== 0
    ? 'needs root and ntfs-3g'
    : undefined

describe.skipIf(whySkipped !== undefined)(suiteName('a disk with the rules of Windows', whySkipped), () => {
  let disk: string
  beforeAll(() => {
    const folder = mesh.makeFolder()
    disk = join(folder, 'disk')
    mkdirSync(disk)
    const image = join(folder, 'image')
    execFileSync('truncate', ['--size=96M', image])
    execFileSync('mkntfs', ['--force', '--quick', '--quiet', image], { stdio: 'ignore' })
    execFileSync('lowntfs-3g', ['-o', 'windows_names,ignore_case', image, disk])
  })
  afterAll(() => execFileSync('umount', [disk]))

  test('takes all but what it cannot have, which both sides name, and the command ends with 7', async () => {
    const received = await receive('project', `${disk}/`)
    expect(received.code).toBe(7)
    expect(received.stderr).toContain('8 entries did not arrive:')
    const reasons = {
      makefile: 'the file system here takes its name and another one for the same',
      docs: 'the file system here takes its name and another one for the same',
      'docs/index': 'its folder is left out',
      'aux.c': 'the file system here does not take its name',
      'a:b': 'the file system here does not take its name',
      'a\\b': 'the file system here does not take its name',
      'r\\xff\\xe9': 'the file system here does not take its name',
    }
    for (const [name, reason] of Object.entries(reasons)) {
      expect(received.stderr).toContain(`  ${name}: ${reason}\n`)
    }
    const stored = readdirSync(join(disk, 'project')).map((name) => name.toLowerCase())
    expect(stored.toSorted()).toEqual(['cafe\u0301', 'caf\u00e9', 'disk.img', 'docs', 'makefile'].toSorted())
    await eventually(async () => {
      const { LastError } = await sender.client.getNodeFile({ name: 'project' })
      expect(LastError).toContain('left out 8 files')
      expect(LastError).toContain('aux.c')
    })
  })
})
