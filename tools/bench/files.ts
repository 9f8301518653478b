/**
 * A file and a folder between two nodes, beside `scp` of the same over loopback: both ends on the same cores, one after
 * the other in every round, medians over the rounds, from the start of the command to the file's name. What starting a
 * node costs is measured by a file of one byte and taken off beside it.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeToken, type Mesh, type NodeProcess } from '../../apps/node/test/harness.ts'
import { openSshd, type Sshd, whyNoSshd } from './sshd.ts'
import { median, round } from './statistics.ts'
import { withMesh } from './with-mesh.ts'

const ROUNDS = 3
const MIB = 2 ** 20
const FILE_MIB = 512
const SMALL_FILES = 2_000
const SMALL_BYTES = 4_096

interface Seconds {
  readonly file: number
  readonly folder: number
}

export async function measureFiles() {
  const skipped = whyNoSshd()
  if (skipped !== undefined) return { skipped }
  return await withMesh(measureAll)
}

async function measureAll(mesh: Mesh, ends: (() => unknown)[]) {
  const source = mesh.makeFolder()
  await makeSources(source)
  const token = makeToken()
  const sender = await mesh.start({
    command: 'start',
    token,
    built: true,
    args: ['file', 'folder', 'one'].map((name) => `--file-send=${name}=${join(source, name)}`),
    until: 'all transports listening',
  })
  const sshd = await openSshd(ends)
  const ours: Seconds[] = []
  const starts: number[] = []
  const scp: Seconds[] = []
  for (let at = 0; at < ROUNDS; at++) {
    starts.push(await receive(mesh, sender, token, 'one'))
    ours.push({
      file: await receive(mesh, sender, token, 'file'),
      folder: await receive(mesh, sender, token, 'folder'),
    })
    const copy = (name: string) => timed(() => scpFrom(sshd, join(source, name), mesh.makeFolder()))
    scp.push({ file: await copy('file'), folder: await copy('folder') })
    process.stderr.write(
      `files ${JSON.stringify({ ours: ours.at(-1), scp: scp.at(-1), start: starts.at(-1) })}\n`,
    )
  }
  const startS = median(starts)
  const of = (all: readonly Seconds[], key: keyof Seconds) => round(median(all.map((each) => each[key])), 2)
  const ratio = (key: keyof Seconds) => ({
    withStart: round(of(scp, key) / of(ours, key)),
    withoutStart: round(of(scp, key) / Math.max(0.01, of(ours, key) - startS)),
  })
  return {
    rounds: ROUNDS,
    fileMiB: FILE_MIB,
    folder: { files: SMALL_FILES, bytesEach: SMALL_BYTES },
    oursSeconds: { start: round(startS, 2), file: of(ours, 'file'), folder: of(ours, 'folder') },
    scpSeconds: { file: of(scp, 'file'), folder: of(scp, 'folder') },
    /** Throughput as a share of scp's. */
    ratiosToScp: { file: ratio('file'), folder: ratio('folder') },
  }
}

async function makeSources(folder: string): Promise<void> {
  const stream = createWriteStream(join(folder, 'file'))
  for (let at = 0; at < FILE_MIB; at++) if (!stream.write(randomBytes(MIB))) await once(stream, 'drain')
  stream.end()
  await once(stream, 'finish')
  writeFileSync(join(folder, 'one'), '1')
  mkdirSync(join(folder, 'folder'))
  for (let at = 0; at < SMALL_FILES; at++)
    writeFileSync(join(folder, 'folder', `f${at}`), randomBytes(SMALL_BYTES))
}

function receive(mesh: Mesh, sender: NodeProcess, token: string, name: string): Promise<number> {
  const target = mesh.makeFolder()
  return timed(async () => {
    const receiver = await mesh.start({
      command: 'file-receive',
      token,
      built: true,
      args: [name, join(target, name), `--discovery-bootstrap-peers=${sender.addresses[0]}`],
    })
    const { code } = await receiver.exited
    if (code !== 0) throw new Error(`file-receive ended with ${code}`)
    rmSync(target, { recursive: true })
  })
}

async function timed(run: () => unknown): Promise<number> {
  const began = performance.now()
  await run()
  return (performance.now() - began) / 1_000
}

async function scpFrom({ options, port, target }: Sshd, source: string, folder: string): Promise<void> {
  await promisify(execFile)('scp', [
    '-q',
    '-r',
    '-P',
    String(port),
    ...options,
    `${target}:${source}`,
    folder,
  ])
  rmSync(folder, { recursive: true })
}
