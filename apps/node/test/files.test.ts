/** Files and folders between real nodes: gone on with after breaks, verified, and never half there. */
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMesh, makeToken, type Mesh, type NodeProcess } from './harness.ts'

const MIB = 2 ** 20
const token = makeToken()
let mesh: Mesh
/** Everybody's way to everybody, whoever restarts. */
let hub: NodeProcess
let bootstrap: string

beforeAll(async () => {
  mesh = createMesh()
  hub = await mesh.start({ command: 'start', token, until: 'all transports listening' })
  bootstrap = `--discovery-bootstrap-peers=${hub.addresses[0]}`
})
afterAll(() => mesh.cleanUp())

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: MIB }), hash)
  return hash.digest('hex')
}

/** Bytes that do not repeat themselves, without asking for a GiB of randomness. */
async function writeBig(path: string, mebibytes: number): Promise<void> {
  const file = await open(path, 'w')
  const block = Buffer.alloc(MIB)
  for (let index = 0; index < mebibytes; index++) {
    createHash('sha512')
      .update(`${index}`)
      .digest()
      .copy(block, (index * 64) % MIB)
    block.writeUInt32BE(index, 0)
    await file.write(block)
  }
  await file.close()
}

const send = (stateDir: string, offer: string) =>
  mesh.start({
    command: 'start',
    token,
    stateDir,
    args: [bootstrap, `--file-send=${offer}`],
    until: 'all transports listening',
  })

const receive = (name: string, destination: string, args: readonly string[] = []) =>
  mesh.start({ command: 'file-receive', token, args: [name, destination, '--json', bootstrap, ...args] })

const bytesOf = ({ lines }: NodeProcess) =>
  Number(
    lines.findLast((line) => line['State'] === 'receiving' && line['TotalBytes'] !== null)?.['Bytes'] ?? 0,
  )

/** Until so many bytes have come. */
const come = (receiver: NodeProcess, bytes: number) =>
  eventually(() => expect(bytesOf(receiver)).toBeGreaterThan(bytes), { withinMs: 120_000, everyMs: 10 })

test('a file of 1 GiB arrives whole, though its sender is killed twice on the way', async () => {
  const source = join(mesh.makeFolder(), 'big.bin')
  const inbox = mesh.makeFolder()
  await writeBig(source, 1_024)
  const stateDir = mesh.makeFolder()
  let sender = await send(stateDir, `big=${source}`)
  const receiver = await receive('big', `${inbox}/`)
  for (const share of [0.25, 0.6]) {
    await come(receiver, share * 1_024 * MIB)
    await sender.kill()
    expect(existsSync(join(inbox, 'big.bin'))).toBe(false)
    sender = await send(stateDir, `big=${source}`)
  }
  expect(await receiver.exited).toMatchObject({ code: 0 })
  expect(await hashOf(join(inbox, 'big.bin'))).toBe(await hashOf(source))
  expect(readdirSync(inbox)).toEqual(['big.bin'])
  const done = receiver.lines.find((line) => line['State'] === 'received')
  expect(done).toMatchObject({ Name: 'big', Verified: true, Bytes: 1_024 * MIB, Provider: sender.id })
  // it was gone on with: after each break what had come was there
  const retries = receiver.lines.filter((line) => line['State'] === 'retrying')
  expect(retries.length).toBeGreaterThanOrEqual(2)
  await sender.stop()
}, 300_000)

test('a folder of 5,000 files arrives whole, though its sender is killed twice and its receiver once', async () => {
  const source = join(mesh.makeFolder(), 'tree')
  for (let folder = 0; folder < 50; folder++) {
    mkdirSync(join(source, `d${folder % 7}`, `e${folder}`), { recursive: true })
    for (let file = 0; file < 100; file++) {
      writeFileSync(
        join(source, `d${folder % 7}`, `e${folder}`, `f${file}`),
        `${folder}/${file}\n`.repeat(50 + file),
      )
    }
  }
  const target = join(mesh.makeFolder(), 'copy')
  const total = sizeOf(source)
  const stateDir = mesh.makeFolder()
  let sender = await send(stateDir, `tree=${source}`)
  let receiver = await receive('tree', target)
  await come(receiver, 0.2 * total)
  await sender.kill()
  sender = await send(stateDir, `tree=${source}`)
  await come(receiver, 0.4 * total)
  await receiver.kill()
  expect(existsSync(target)).toBe(false)
  receiver = await receive('tree', target)
  await come(receiver, 0.6 * total)
  await sender.kill()
  sender = await send(stateDir, `tree=${source}`)
  expect(await receiver.exited).toMatchObject({ code: 0 })
  expect(await treeOf(target)).toEqual(await treeOf(source))
  await sender.stop()
}, 300_000)

const pathsOf = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((child) => child.isFile())
    .map((child) => join(child.parentPath, child.name))

const sizeOf = (root: string) => pathsOf(root).reduce((sum, path) => sum + readFileSync(path).byteLength, 0)

async function treeOf(root: string): Promise<readonly string[]> {
  const lines = pathsOf(root).map(
    (path) => `${path.slice(root.length)} ${readFileSync(path).toString('base64')}`,
  )
  return lines.toSorted()
}

describe('a file of a node that runs already', () => {
  let node: NodeProcess
  let source: string
  beforeAll(async () => {
    source = join(mesh.makeFolder(), 'report.pdf')
    writeFileSync(source, 'a report')
    node = await mesh.start({ token, args: [bootstrap], until: 'all transports listening' })
  })

  test('is offered by the running node, to several receivers, and over a restart of it', async () => {
    const state = { MESHSTATEDIR: node.stateDir, MESHTOKEN: token }
    const offered = await mesh.run(['file-send', 'report', source], { environment: state })
    expect(offered).toMatchObject({ code: 0, stderr: '' })
    expect(offered.stdout).toContain('which runs here')
    expect((await node.client.getNodeFile({ name: 'report' })).Path).toBe(source)
    const folders = [mesh.makeFolder(), mesh.makeFolder(), mesh.makeFolder()]
    const receivers = await Promise.all(folders.map((folder) => receive('report', folder)))
    for (const [index, receiver] of receivers.entries()) {
      expect(await receiver.exited).toMatchObject({ code: 0 })
      expect(readFileSync(join(folders[index] ?? '', 'report.pdf'), 'utf8')).toBe('a report')
    }
    await eventually(async () =>
      expect(await node.client.getNodeFile({ name: 'report' })).toMatchObject({
        Completed: 3,
        State: 'announced',
      }),
    )
    await node.stop()
    node = await mesh.start({
      token,
      stateDir: node.stateDir,
      args: [bootstrap],
      until: 'all transports listening',
    })
    await eventually(async () =>
      expect(await node.client.listNodeFiles()).toMatchObject([{ Name: 'report', Kept: true }]),
    )
    const shown = await mesh.run(['services'], { environment: state })
    expect(shown.stdout).toMatch(/report +.*report\.pdf +announc/)
    expect((await mesh.run(['file-remove', 'report'], { environment: state })).code).toBe(0)
    expect(await node.client.listNodeFiles()).toEqual([])
    await eventually(async () => expect(await node.client.listFiles()).toEqual([]))
    const again = await mesh.run(['file-remove', 'report'], { environment: state })
    expect(again.code).not.toBe(0)
    expect(again.stderr).toContain('services.unknown')
  })

  test('is sent once by a node of its own that ends then', async () => {
    const sender = await mesh.start({
      command: 'file-send',
      token,
      args: ['once', source, '--once', '--ephemeral', bootstrap],
      until: 'all transports listening',
    })
    const folder = mesh.makeFolder()
    const receiver = await receive('once', folder)
    expect(await receiver.exited).toMatchObject({ code: 0 })
    expect(await sender.exited).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, 'report.pdf'), 'utf8')).toBe('a report')
  })
})

test('the node that runs here receives for a person, without a token, and says what went wrong', async () => {
  const source = join(mesh.makeFolder(), 'notes.txt')
  writeFileSync(source, 'some notes')
  const sender = await send(mesh.makeFolder(), `notes=${source}`)
  const node = await mesh.start({ token, args: [bootstrap], until: 'all transports listening' })
  const environment = { MESHSTATEDIR: node.stateDir }
  const inbox = mesh.makeFolder()
  const received = await mesh.run(['file-receive', 'notes', `${inbox}/`], { environment })
  expect(received).toMatchObject({ code: 0 })
  expect(received.stderr).toContain('which runs here, receives it')
  expect(received.stdout).toMatch(/^notes: .*notes\.txt \(10 B.*, verified\)\n$/)
  expect(readFileSync(join(inbox, 'notes.txt'), 'utf8')).toBe('some notes')
  expect(await node.client.getNodeDownload({ name: 'notes' })).toMatchObject({
    State: 'received',
    Provider: sender.id,
    Verified: true,
  })
  const nowhere = await mesh.run(['file-receive', 'notes', '/proc/nowhere/'], { environment })
  expect(nowhere.code).not.toBe(0)
  expect(nowhere.stderr).toContain('files.destination')
  // whoever follows one that somebody else ends is told
  const following = mesh.run(['file-receive', 'nobody', `${inbox}/`], { environment })
  await eventually(async () =>
    expect(await node.client.getNodeDownload({ name: 'nobody' })).toMatchObject({ State: 'waiting' }),
  )
  await node.client.deleteNodeDownload({ name: 'nobody' })
  const ended = await following
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('files.ended')])
  await Promise.all([sender.stop(), node.stop()])
})

test('a file is put on a node over the API, and fetched into the inbox of another', async () => {
  const api = (stateDir: string) => mesh.start({ token, stateDir, args: [bootstrap] })
  const stateDir = mesh.makeFolder()
  const [sender, receiver] = await Promise.all([api(stateDir), api(mesh.makeFolder())])
  const [from, to] = [sender.client, receiver.client]
  const bytes = randomBytes(2 * MIB + 17)
  const put = (at: number) =>
    from.uploadNodeFile({
      name: 'photo.jpg',
      from: String(at),
      of: String(bytes.length),
      body: Uint8Array.from(bytes.subarray(at, at + MIB)),
    })
  expect(await put(0)).toMatchObject({ State: 'receiving', Bytes: MIB })
  await expect(put(2 * MIB)).rejects.toMatchObject({ code: 'files.wrong_piece' })
  await put(MIB)
  expect(await put(2 * MIB)).toMatchObject({ State: 'offered', Bytes: bytes.length })
  const seen = await eventually(() => to.lookIntoFile({ name: 'photo.jpg' }), { withinMs: 30_000 })
  expect(seen).toMatchObject({
    IsFolder: false,
    Files: 1,
    TotalBytes: bytes.length,
    Entries: [{ Path: 'photo.jpg', Bytes: bytes.length }],
  })
  await to.receiveNodeFile({ name: 'photo.jpg' })
  const { WrittenTo } = await eventually(
    async () => {
      const download = await to.getNodeDownload({ name: 'photo.jpg' })
      expect(download).toMatchObject({ State: 'received', Verified: true })
      return download
    },
    { withinMs: 60_000 },
  )
  expect(readFileSync(WrittenTo ?? '')).toEqual(bytes)
  const { Path } = await from.getNodeFile({ name: 'photo.jpg' })
  await from.deleteNodeFile({ name: 'photo.jpg' })
  expect(existsSync(Path)).toBe(false)
  await Promise.all([sender.stop(), receiver.stop()])
})

test('whoever waits for a name that nobody offers ends with 130 at Ctrl-C, and leaves nothing', async () => {
  const folder = mesh.makeFolder()
  const receiver = await receive('nobody', `${folder}/`)
  await eventually(() => expect(receiver.lines.some((line) => line['State'] === 'waiting')).toBe(true))
  expect(await receiver.stop('SIGINT')).toMatchObject({ code: 130 })
  expect(readdirSync(folder)).toEqual([])
})

test('a path that cannot be offered is refused at the start, with what to do', async () => {
  const refused = await mesh.run(
    ['file-send', 'x', '/nonexistent/file', '--own-node', '--ephemeral', '--private', '--no-mdns'],
    {
      environment: { MESHTOKEN: token, MESHSTATEDIR: mesh.makeFolder() },
    },
  )
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('/nonexistent/file does not exist')
})
