/**
 * OrbitDB's put per second on this machine, for comparison: installed from the npm registry into a temporary folder
 * (it is no dependency of ours) and run as its own process.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Versions that work together. */
const PACKAGES = [
  '@orbitdb/core@4.0.0',
  'helia@6.0.22',
  'libp2p@3.1.3',
  '@libp2p/gossipsub@15.0.16',
  '@libp2p/tcp@11.0.28',
  '@libp2p/identify@4.1.14',
  '@chainsafe/libp2p-noise@17.0.0',
  '@chainsafe/libp2p-yamux@8.0.1',
]
const PUTS = 300
const INSTALL_TIMEOUT_MS = 240_000
const RUN_TIMEOUT_MS = 60_000

const PROGRAM = `
import { createLibp2p } from 'libp2p'
import { createHelia } from 'helia'
import { createOrbitDB } from '@orbitdb/core'
import { tcp } from '@libp2p/tcp'
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import { gossipsub } from '@libp2p/gossipsub'

const libp2p = await createLibp2p({
  addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
  transports: [tcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  services: { identify: identify(), pubsub: gossipsub({ allowPublishToZeroTopicPeers: true }) },
})
const ipfs = await createHelia({ libp2p })
const orbitdb = await createOrbitDB({ ipfs, directory: './store' })
const db = await orbitdb.open('bench', { type: 'keyvalue' })
for (let at = 0; at < 30; at++) await db.put('warm' + at, 'x')
const began = performance.now()
for (let at = 0; at < ${PUTS}; at++) await db.put('key' + at, 'value' + at)
console.log(JSON.stringify({ putsPerSecond: ${PUTS} / ((performance.now() - began) / 1000) }))
process.exit(0)
`

/** Undefined where the registry cannot be reached. */
export async function measureOrbitDb(): Promise<
  { readonly putsPerSecond: number } | { readonly skipped: string }
> {
  const folder = await mkdtemp(join(tmpdir(), 'mesh-orbitdb-'))
  try {
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    await writeFile(join(folder, 'bench.mjs'), PROGRAM)
    await run('npm', ['install', '--no-audit', '--no-fund', ...PACKAGES], {
      cwd: folder,
      timeout: INSTALL_TIMEOUT_MS,
    })
    const { stdout } = await run(process.execPath, ['bench.mjs'], { cwd: folder, timeout: RUN_TIMEOUT_MS })
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { putsPerSecond: number }
  } catch (error) {
    return { skipped: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
